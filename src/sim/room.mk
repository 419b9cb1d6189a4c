# The simulator's own speed: events a second, cost a message, memory.
bench-sim: $(B)/roost
	bench/sim
.PHONY: bench-sim
