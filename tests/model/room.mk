# One program a tests/model/*.c; each explores a protocol exhaustively and exits 0 or 1. ./check runs them.
MODEL := $(patsubst tests/model/%.c,$(B)/model/%,$(wildcard tests/model/*.c))

$(B)/model/%: tests/model/%.c $(B)/libroost-all.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Itests -MT $@ -MF $@.d $< $(B)/libroost-all.a $(LDFLAGS) -o $@ $(LDLIBS)

model: $(MODEL)
	@for t in $(MODEL); do $$t || exit 1; done
TESTS += $(MODEL)
.PHONY: model
-include $(wildcard $(B)/model/*.d)
