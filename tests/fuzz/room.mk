# One program a tests/fuzz/*.c; without arguments each runs for a few seconds with a fixed seed. ./check runs them.
FUZZ := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/*.c))

$(B)/fuzz/%: tests/fuzz/%.c $(B)/libroost-all.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Itests -MT $@ -MF $@.d $< $(B)/libroost-all.a $(LDFLAGS) -o $@ $(LDLIBS)

fuzz: $(FUZZ)
	@for t in $(FUZZ); do $$t || exit 1; done
TESTS += $(FUZZ)
.PHONY: fuzz
-include $(wildcard $(B)/fuzz/*.d)
