# SPDX-License-Identifier: GPL-2.0-only
# What the rows' scripts may use, inside the guest. A row passes only by saying so: `pass` must be its last word.
# shellcheck shell=sh
set -u

note() { echo "  $*"; }
pass() {
	echo "pass $*" >"$RESULT"
	exit 0
}
fail() {
	echo "fail $*" >"$RESULT"
	# What roost itself said helps whoever reads it.
	for f in /tmp/roost.out /tmp/roost.err; do
		[ ! -s $f ] || sed "s,^,  ${f#/tmp/}: ," $f | tail -n 40
	done
	exit 1
}

scx=/sys/kernel/sched_ext
scx_state() { cat $scx/state 2>/dev/null || echo "no sched_ext"; }
scx_ops() { cat $scx/root/ops 2>/dev/null; }
cpus_online() { getconf _NPROCESSORS_ONLN 2>/dev/null || nproc; }

# --plain: the row's load under the kernel's own scheduler, to tell a row that asks too much from a roost that gives too little.
plain() { [ -e /root/plain ]; }

# roost_up [ARG...]: starts `roost run ARG...` and returns when it schedules.
roost_up() {
	! plain || return 0
	roost run "$@" >/tmp/roost.out 2>/tmp/roost.err &
	roost_pid=$!
	i=0
	# its line of state comes a moment after the kernel's word
	while [ "$(scx_state)" != enabled ] || [ ! -s /tmp/roost.out ]; do
		kill -0 $roost_pid 2>/dev/null || {
			wait $roost_pid
			fail "roost run $* ended with exit code $? before it scheduled anything"
		}
		i=$((i + 1))
		[ $i -lt 300 ] || fail "roost run $* did not schedule after 30 s (sched_ext is $(scx_state))"
		sleep 0.1
	done
	enable_seq=$(cat $scx/enable_seq)
	rejected=$(cat $scx/nr_rejected)
}

# Still the same load of it, and no task refused?
roost_alive() {
	! plain || return 0
	kill -0 $roost_pid 2>/dev/null || {
		wait $roost_pid
		fail "roost ended by itself with exit code $? ${1:-}"
	}
	[ "$(scx_state)" = enabled ] || fail "sched_ext is $(scx_state) ${1:-}"
	[ "$(cat $scx/enable_seq)" = "$enable_seq" ] || fail "roost was loaded anew ${1:-}"
	[ "$(cat $scx/nr_rejected)" = "$rejected" ] || fail "the kernel rejected $(($(cat $scx/nr_rejected) - rejected)) tasks ${1:-}"
}

# roost_anew WHY: it must load itself anew now; returns when it schedules again.
roost_anew() {
	! plain || return 0
	i=0
	while [ "$(cat $scx/enable_seq)" = "$enable_seq" ] || [ "$(scx_state)" != enabled ]; do
		kill -0 $roost_pid 2>/dev/null || fail "roost ended instead of loading itself anew: $1"
		i=$((i + 1))
		[ $i -lt 600 ] || fail "roost did not load itself anew within 60 s (sched_ext is $(scx_state)): $1"
		sleep 0.1
	done
	enable_seq=$(cat $scx/enable_seq)
	rejected=$(cat $scx/nr_rejected)
}

# roost_down [SIGNAL]: asks it to go; it must do so within 20 s, with exit code 0, and leave sched_ext off.
roost_down() {
	! plain || return 0
	roost_alive "before it was asked to"
	kill -"${1:-INT}" $roost_pid
	i=0
	while kill -0 $roost_pid 2>/dev/null; do
		i=$((i + 1))
		[ $i -lt 200 ] || fail "roost did not end within 20 s of SIG${1:-INT}"
		sleep 0.1
	done
	wait $roost_pid
	code=$?
	[ $code = 0 ] || fail "roost ended with exit code $code after SIG${1:-INT}"
	[ "$(scx_state)" = disabled ] || fail "roost is gone and sched_ext is $(scx_state)"
}

# roost_killed: kills it with SIGKILL and returns when the kernel's own scheduler has taken over.
roost_killed() {
	! plain || return 0
	kill -KILL $roost_pid
	wait $roost_pid 2>/dev/null
	i=0
	while [ "$(scx_state)" != disabled ]; do
		i=$((i + 1))
		[ $i -lt 100 ] || fail "the loader is dead and sched_ext is $(scx_state) after 10 s"
		sleep 0.1
	done
}

# field NAME LINE...: the number after NAME in "… NAME 12 …".
field() {
	name=$1
	shift
	echo " $*" | sed -n "s/.* $name \([0-9]*\).*/\1/p"
}
# within VALUE LEAST MOST WHAT: whole numbers.
within() {
	[ -n "$1" ] || fail "$4: not measured"
	if [ "$1" -lt "$2" ] || [ "$1" -gt "$3" ]; then
		fail "$4: $1, and it must be $2 to $3"
	fi
	note "$4: $1 ($2 to $3)"
}

# busy N: N processes that compute until the row ends.
busy() {
	n=0
	while [ $n -lt "$1" ]; do
		(while :; do :; done) &
		n=$((n + 1))
	done
}

# counter NAME, rule NAME: what the running roost has counted so far.
counter() { roost stat --json | sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" | head -n 1; }
rule() { roost stat --json | awk -v r="\"$1\": {" 'index($0, r) { on = 1 } on && /"chose"/ { gsub(/[^0-9]/, ""); print; exit }'; }
