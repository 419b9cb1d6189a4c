# One program a tests/model/*.c, each of which explores a protocol or random states and exits 0 or 1. ./check runs them.
# policy_reference.c is a part of policy_model: the same policy written a second time.
MODEL := $(patsubst tests/model/%.c,$(B)/model/%,$(filter-out %_reference.c,$(wildcard tests/model/*.c)))

$(B)/model/%: tests/model/%.c $(B)/libroost-all.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Itests -MT $@ -MF $@.d $< $(filter %.o %.a,$^) $(LDFLAGS) -o $@ $(LDLIBS)

$(B)/model/policy_model: $(B)/obj/tests/model/policy_reference.o

model: $(MODEL)
	@for t in $(MODEL); do $$t || exit 1; done

# A million random machine states for each of the 16 sets of features: some minutes.
check-model-full: $(B)/model/policy_model
	$(B)/model/policy_model --states 1000000 --seed 1

TESTS += $(MODEL)
.PHONY: model check-model-full
-include $(wildcard $(B)/model/*.d $(B)/obj/tests/model/*.d)
