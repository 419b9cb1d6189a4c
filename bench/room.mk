# Programs of bench/: one file each, linked with all but main(). The scripts beside them print the tables.
$(B)/bench/%: bench/%.c $(B)/libroost-all.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MT $@ -MF $@.d $< $(B)/libroost-all.a $(LDFLAGS) -o $@ $(LDLIBS)

# The base scheduler's figures, in a VM (about half an hour on two cores).
bench-base: all
	bench/base

# What a placement decision costs, natively and as BPF: see bench/decide.c and docs/decide.md. Needs root. JSON=1 for JSON.
$(B)/bench/decide: CPPFLAGS += -Itests
bench-decide: $(B)/bench/decide build/bpf/decide.bpf.o
	@$(B)/bench/decide --object build/bpf/decide.bpf.o $(if $(JSON),--json)

.PHONY: bench-base bench-decide
-include $(wildcard $(B)/bench/*.d)

# The simulator held against this machine; root, and nothing else running.
bench-reality: all $(B)/bench/costs
	@bench/reality
.PHONY: bench-reality
