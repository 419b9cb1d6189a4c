# The guest's helper programs: static, so that they need nothing but a kernel; migdis, which loads BPF, excepted.
VM_GUEST := $(patsubst tests/vm/guest/%.c,$(B)/vm/guest/%,$(filter-out %.bpf.c,$(wildcard tests/vm/guest/*.c)))
VM_GUEST_BPF := $(patsubst tests/vm/guest/%.bpf.c,$(B)/vm/guest/%.bpf.o,$(wildcard tests/vm/guest/*.bpf.c))

$(B)/vm/guest/%: tests/vm/guest/%.c tests/vm/guest/guest.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=c11 -g -O2 $(WARN) -static $< -o $@ -lpthread

$(B)/vm/guest/migdis: tests/vm/guest/migdis.c tests/vm/guest/guest.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=c11 -g -O2 $(WARN) $< -o $@ $(DEPS_LDFLAGS) -lbpf $(DEPS_LDLIBS)

$(B)/vm/guest/%.bpf.o: tests/vm/guest/%.bpf.c
	@mkdir -p $(@D)
	$(CLANG) -std=gnu11 -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Werror -Wno-unused-parameter -isystem /usr/include/x86_64-linux-gnu $(DEPS_CPPFLAGS) -c $< -o $@

vm-guest: $(VM_GUEST) $(VM_GUEST_BPF)

# Every stock kernel with sched_ext, and one without, as a Markdown table (build/vm/kernels.md).
check-kernels:
	tests/vm/run --tag kernels --markdown $(B)/vm/kernels.md; e=$$?; cat $(B)/vm/kernels.md; exit $$e

# ./demo and ./check in a fresh Debian 12 and 13.
check-fresh:
	tools/check-fresh

.PHONY: vm-guest check-kernels check-fresh
