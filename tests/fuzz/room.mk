# Fuzzing, part of ./check, with inputs that are the same on every machine:
#   tests/fuzz/NAME.c        a program of its own; without arguments it runs for a few seconds with a fixed seed
#   tests/fuzz/fuzz_NAME.c   a target for libFuzzer; here its kept inputs (corpus/NAME) and fixed mutations of them
# make libfuzzer [FUZZ_SECONDS=60]: the latter with clang's libFuzzer, each this long; new inputs go to build/fuzz/new.
FUZZ_PARTS := tests/fuzz/replay.c tests/fuzz/commands.c
FUZZ_TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(filter-out $(FUZZ_PARTS) tests/fuzz/fuzz_%,$(wildcard tests/fuzz/*.c))) \
	$(FUZZ_TARGETS:%=$(B)/fuzz/replay_%)
FUZZ_SECONDS ?= 60
TESTS += $(FUZZ)

$(B)/fuzz/replay_%: tests/fuzz/fuzz_%.c tests/fuzz/replay.c tests/fuzz/fuzz.h $(B)/libroost-all.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=c11 -g $(OPT) $(WARN) -Itests/fuzz -DROOST_CORPUS='"tests/fuzz/corpus/$*"' $< tests/fuzz/replay.c \
		$(B)/libroost-all.a $(LDFLAGS) -o $@ $(LDLIBS)

# What the targets call, built by clang with its coverage; the subcommands' own code is not: none is run.
FUZZ_SRC := src/run/units.c src/cli/options.c src/run/knobs.c src/run/knobs_config.c
FUZZ_FLAGS := -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

$(B)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/commands.c tests/fuzz/fuzz.h $(FUZZ_SRC)
	@mkdir -p $(@D)
	$(CLANG) $(CPPFLAGS) $(FUZZ_FLAGS) -Itests/fuzz $< tests/fuzz/commands.c $(FUZZ_SRC) -o $@

# The simulator's files: all of it, as a workload that parses is run.
FUZZ_SIM_SRC := $(wildcard src/sim/*.c src/topology/*.c) src/measure/hist.c src/run/knobs.c src/run/knobs_config.c src/run/units.c
$(B)/fuzz/fuzz_machine $(B)/fuzz/fuzz_workload $(B)/fuzz/fuzz_simargs: $(B)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c tests/fuzz/fuzz.h \
		$(FUZZ_SIM_SRC) $(B)/gen/machines.c
	@mkdir -p $(@D)
	$(CLANG) $(CPPFLAGS) $(FUZZ_FLAGS) -Itests/fuzz $< $(FUZZ_SIM_SRC) $(B)/gen/machines.c -o $@ -lhwloc -ljansson -lm

$(B)/fuzz/%: tests/fuzz/%.c $(B)/libroost-all.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Itests -MT $@ -MF $@.d $< $(B)/libroost-all.a $(LDFLAGS) -o $@ $(LDLIBS)

fuzz: $(FUZZ)
	@for t in $(FUZZ); do $$t || exit 1; done

libfuzzer: $(FUZZ_TARGETS:%=$(B)/fuzz/fuzz_%)
	for n in $(FUZZ_TARGETS); do mkdir -p $(B)/fuzz/new/$$n; \
		$(B)/fuzz/fuzz_$$n -max_total_time=$(FUZZ_SECONDS) -max_len=2048 -print_final_stats=1 \
		$(B)/fuzz/new/$$n tests/fuzz/corpus/$$n || exit 1; done
.PHONY: fuzz libfuzzer
-include $(wildcard $(B)/fuzz/*.d)
