# A real server with its own benchmark; the server starts and ends with each run.
cat >/tmp/redis.sh <<'END'
redis-server --port 7777 --save '' --appendonly no >/dev/null &
server=$!
trap 'kill $server' EXIT
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	redis-cli -p 7777 ping >/dev/null 2>&1 && break
	sleep 0.2
done
redis-benchmark -p 7777 -n "${REQUESTS:-600}" -c 10 -t get --csv
END
roost compare --variants kernel,warm --runs "$1" --seed 1 --report /out/report.html \
	--metric 'get/s+="GET","([0-9.]+)"' -- sh /tmp/redis.sh | tee /out/table.txt
