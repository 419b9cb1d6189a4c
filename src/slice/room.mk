# libroost-slice, static and shared, and the shim for programs that know nothing of it.

SLICE_LIB_SRC := src/slice/slice.c src/slice/kernel.c src/slice/map.c
SLICE_PIC := $(SLICE_LIB_SRC:src/slice/%.c=$(B)/slice/%.pic.o)
SLICE_SONAME := libroost-slice.so.1
SLICE_SO := $(B)/libroost-slice.so.1.0.0

# The program itself uses the library too (roost load lockfight).
LIBOBJ += $(SLICE_LIB_SRC:%.c=$(B)/obj/%.o)
OBJ += $(SLICE_LIB_SRC:%.c=$(B)/obj/%.o)

all: slice
slice: $(B)/libroost-slice.a $(B)/libroost-slice.so $(B)/libroost-spin.so $(B)/roost-slice.pc
.PHONY: slice

# Only what the version script names leaves the library; -fPIC throughout.
$(B)/slice/%.pic.o: src/slice/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -c $< -o $@

$(B)/libroost-slice.a: $(SLICE_PIC)
	@rm -f $@
	ar rcs $@ $^

$(SLICE_SO): $(SLICE_PIC) src/slice/libroost-slice.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SLICE_SONAME) -Wl,--version-script,src/slice/libroost-slice.map \
		-Wl,-z,defs -Wl,-z,relro,-z,now -o $@ $(SLICE_PIC) -lpthread

$(B)/$(SLICE_SONAME): $(SLICE_SO)
	ln -sf $(<F) $@
$(B)/libroost-slice.so: $(B)/$(SLICE_SONAME)
	ln -sf $(<F) $@

# Stands alone, so that one LD_PRELOAD is enough.
$(B)/libroost-spin.so: $(B)/slice/shim.pic.o $(SLICE_PIC) src/slice/libroost-spin.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libroost-spin.so -Wl,--version-script,src/slice/libroost-spin.map \
		-Wl,-z,defs -o $@ $(B)/slice/shim.pic.o $(SLICE_PIC) -lpthread -ldl

$(B)/roost-slice.pc: src/slice/roost-slice.pc.in Makefile
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' $< >$@

-include $(wildcard $(B)/slice/*.d)

# The guest's helper for slice-ext needs the library; static, as the others.
$(B)/vm/guest/slice_stress: tests/vm/guest/slice_stress.c tests/vm/guest/guest.h $(B)/libroost-slice.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=c11 -g -O2 $(WARN) -static $< $(B)/libroost-slice.a -o $@ -lpthread

# The same against whatever C library runs it: which rseq area that registers decides about the kernel's back end.
vm-guest: $(B)/vm/guest/slice_stress_dynamic
$(B)/vm/guest/slice_stress_dynamic: tests/vm/guest/slice_stress.c tests/vm/guest/guest.h $(B)/libroost-slice.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=c11 -g -O2 $(WARN) $< $(B)/libroost-slice.a -o $@ -lpthread

# As a user would build them: against the library only.
examples: $(B)/examples/spinlock $(B)/examples/spinqueue
$(B)/examples/spinlock: examples/spinlock.c $(B)/libroost-slice.a include/roost/slice.h
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE -g $(OPT) $(WARN) -Iinclude $< $(B)/libroost-slice.a -o $@ -lpthread
$(B)/examples/spinqueue: examples/spinqueue.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE -g $(OPT) $(WARN) $< -o $@ -lpthread
.PHONY: examples
tests: examples
