# SPDX-License-Identifier: GPL-2.0-only
# What a command's threads did, from the kernel's scheduler events: `perf script -F tid,cpu,time,event,trace --ns` of
# sched_switch, sched_wakeup, sched_wakeup_new, sched_process_fork, sched_process_exit.
#
#   awk -v root=PID -f bench/sched.awk            a line of JSON: seconds, CPU time, switches, migrations, run delay
#   awk -v root=PID -v replay=1 -f bench/sched.awk   a workload file for `roost sim`: each thread computes for as long as it
#                                                 did between its sleeps; a sleep ended by a thread of the command waits for
#                                                 that thread to get as far, any other lasts as long as it did
#
# A wakeup in an interrupt is put down to the thread it interrupted: nothing in the events tells them apart.

function field(name,   at) {
	at = index($0, " " name "=")
	if (!at)
		return ""
	value = substr($0, at + length(name) + 2)
	sub(/ .*/, "", value)
	return value
}

# The thread's CPU time up to now goes to its program.
function advance(pid) {
	if (pid in on) {
		pending[pid] += now - since[pid]
		ran += now - since[pid]
		since[pid] = now
	}
}

function compute(pid,   us) {
	us = int(pending[pid] * 1e6)
	if (us > 0) {
		add(pid, "run", us)
		pending[pid] -= us / 1e6
	}
}

function add(pid, what, arg) {
	key++
	program[pid] = program[pid] (program[pid] == "" ? "" : ", ") "\"" what key "\": " arg
}

function name(pid) {
	return "\"t" pid "\""
}

function starts(pid) {
	tree[pid] = 1
	order[++threads] = pid
	ready[pid] = now
	program[pid] = ""
}

{
	tid = $1
	now = $3
	sub(/:$/, "", now)
	now += 0
	event = $4
	sub(/^sched:/, "", event)
	sub(/:$/, "", event)
	cpu = $2
}

event == "sched_process_fork" {
	parent = field("pid")
	child = field("child_pid")
	if (parent in tree) {
		advance(parent)
		compute(parent)
		starts(child)
		add(child, "suspend", name(child))
		add(parent, "resume", name(child))
	}
	next
}

event == "sched_wakeup" || event == "sched_wakeup_new" {
	pid = field("pid")
	if (!(pid in tree))
		next
	if (event == "sched_wakeup" && pid in asleep) {
		if (tid in tree && tid in on && tid != pid) {
			advance(tid)
			compute(tid)
			add(pid, "suspend", name(pid))
			add(tid, "resume", name(pid))
		} else {
			add(pid, "sleep", int((now - asleep[pid]) * 1e6 + 0.5))
		}
		delete asleep[pid]
		ready[pid] = now
	}
	next
}

event == "sched_switch" {
	prev = field("prev_pid")
	nxt = field("next_pid")
	if (!threads && (prev == root || nxt == root)) {
		starts(root)
		first = now
		if (prev == root)
			since[root] = now
		on[root] = 1
		since[root] = now
		lastcpu[root] = cpu
	}
	if (prev in tree && prev in on) {
		advance(prev)
		delete on[prev]
		state = substr(field("prev_state"), 1, 1)
		if (state == "R") {
			ready[prev] = now
			forced++
		} else if (state == "X" || state == "Z") {
			compute(prev)
			last = now
		} else {
			compute(prev)
			asleep[prev] = now
		}
	}
	if (nxt in tree && !(nxt in on)) {
		if (nxt in ready) {
			delay += now - ready[nxt]
			delete ready[nxt]
		}
		on[nxt] = 1
		since[nxt] = now
		switches++
		if (nxt in lastcpu && lastcpu[nxt] != cpu)
			migrations++
		lastcpu[nxt] = cpu
	}
}

END {
	if (!threads) {
		print "sched.awk: thread " root " is not in the trace" > "/dev/stderr"
		exit 1
	}
	if (!replay) {
		printf "{\"time_s\": %.6f, \"cpu_s\": %.6f, \"switches\": %d, \"preemptions\": %d, \"migrations\": %d, " \
		       "\"run_delay_s\": %.6f, \"threads\": %d}\n", last - first, ran, switches, forced, migrations, delay, threads
		exit
	}
	print "{ \"global\": { \"duration\": -1 }, \"tasks\": {"
	for (i = 1; i <= threads; i++)
		printf "  %s: { \"loop\": 1, %s }%s\n", name(order[i]), program[order[i]] == "" ? "\"run0\": 1" : program[order[i]], \
		       i < threads ? "," : ""
	print "} }"
}
