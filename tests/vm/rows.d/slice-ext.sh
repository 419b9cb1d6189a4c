# slice-ext.sh SECONDS THREADS_A_CPU: sections of 0 to 200 us under preemption of every kind. Each thread must learn of
# each grant, once, in its section, and give the CPU up only for one (slice_stress checks); no grant may run past its end
# longer than the timer was late and one more switch takes; and the scheduler's counts must add up.
. /root/guest-lib.sh
roost_up --set slice-ext=30us
roost explain --seconds "$1" --summary --json >/tmp/explain.json 2>/tmp/explain.err &
explain=$!
slice_stress stress "$1" $(($(cpus_online) * $2)) >/tmp/stress.out 2>/tmp/stress.err
code=$?
[ $code != 77 ] || fail "nothing was granted"
[ $code = 0 ] || fail "slice_stress: exit code $code: $(head -n 3 /tmp/stress.err | tr '\n' ' ')"
line=$(cat /tmp/stress.out)
note "$line"
wait $explain || fail "roost explain: exit code $?: $(cat /tmp/explain.err)"
grep -q '"granted"' /tmp/explain.json || fail "roost explain shows no grant"
roost stat --json >/tmp/stat.json 2>/tmp/stat.err || fail "roost stat: $(cat /tmp/stat.err)"
counter() { tr ',{' '\n\n' </tmp/stat.json | sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" | head -n 1; }
grants=$(counter ext_grants)
ended=$(($(counter ext_yields) + $(counter ext_expired) + $(counter ext_cut)))
within "$grants" 1 1000000000 "grants"
within "$ended" "$grants" "$grants" "grants that ended"
# what the threads saw is what the scheduler did
within "$(field granted $line)" "$grants" "$grants" "grants as the threads count them"
roost stat | sed -n '/^slice-ext: [0-9]/,$p' | while read -r l; do note "$l"; done
# 5 % of the CPUs' time at most
ms=$(($(counter ext_ns) / 1000000))
within $ms 0 $(($1 * $(cpus_online) * 50 + 50)) "milliseconds that grants took"
roost_down
pass
