# Builds roost: the program, the BPF object inside it, the client library, and the tests.
#
#   make            build/roost (and build/scx_roost, the same program)
#   make unit       build and run the unit tests          make check   what ./check runs
#   make check-metrics     what serve-metrics serves, checked with promtool
#   make install    into DESTDIR, PREFIX=/usr/local
#
# A room that needs more than "compile src/ROOM/*.c into the program" says so in src/ROOM/room.mk.
# SAN=1 builds everything under ASan and UBSan into build-san/.

VERSION := 0.1.0
PREFIX ?= /usr/local
CC := gcc
CLANG ?= $(shell for c in clang-22 clang-21 clang-20 clang-19 clang-18 clang-17 clang-16; do command -v $$c && break; done)
B := build
OPT ?= -O2
ifeq ($(SAN),1)
B := build-san
OPT := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

# Where tools/deps put a libbpf newer than the system's (Debian 12); empty elsewhere.
include build/deps.mk

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
CPPFLAGS += -D_GNU_SOURCE -DROOST_VERSION='"$(VERSION)"' -Isrc -Iinclude $(DEPS_CPPFLAGS)
CFLAGS += -std=c11 -g $(OPT) $(WARN) -MMD -MP
LDLIBS += $(DEPS_LDFLAGS) -lbpf $(DEPS_LDLIBS) -lhwloc -ljansson -lncursesw -lpthread -lm

ROOMS := topology measure load run sim cli
SRC := $(foreach r,$(ROOMS),$(wildcard src/$r/*.c))
OBJ := $(SRC:%.c=$(B)/obj/%.o)
LIBOBJ := $(filter-out $(B)/obj/src/cli/main.o,$(OBJ))

all: $(B)/roost $(B)/scx_roost

include $(wildcard src/*/room.mk tests/*/room.mk bench/room.mk man/room.mk packaging/room.mk kernel/room.mk)

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "CC $<"; $(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

# Everything but main(): what the program and the tests link.
$(B)/libroost-all.a: $(LIBOBJ)
	@rm -f $@
	ar rcs $@ $^

$(B)/roost: $(B)/obj/src/cli/main.o $(B)/libroost-all.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(B)/scx_roost: $(B)/roost
	ln -sf roost $@

# The sched_ext object: compiled by clang, embedded in the program by src/run/bpf_object.c.
build/bpf/%.bpf.o: src/bpf/%.bpf.c
	@mkdir -p $(@D)
	$(CLANG) -std=gnu11 -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -Wall -Wextra -Werror \
		-Wno-unused-parameter -Wno-missing-declarations -isystem /usr/include/x86_64-linux-gnu -Isrc $(DEPS_CPPFLAGS) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@

build/deps.mk: tools/deps tools/packages
	@tools/deps --make
	@touch $@

# One program a tests/unit/test_*.c, each linked with all but main().
UNIT := $(patsubst tests/unit/%.c,$(B)/unit/%,$(wildcard tests/unit/test_*.c))
$(B)/unit/%: tests/unit/%.c $(B)/libroost-all.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Itests -MT $@ -MF $@.d $< $(B)/libroost-all.a $(LDFLAGS) -o $@ -lcmocka $(LDLIBS)

unit: $(UNIT)
	@for t in $(UNIT); do $$t || [ $$? = 77 ] || exit 1; done

# What the metrics are, to promtool (Debian's prometheus, unpacked into the cache).
check-metrics: $(B)/unit/test_metrics
	@tools/deps look
	@. tools/lib.sh && PATH="$$(dirname "$$(guest_tool promtool)"):$$PATH" $<

# Every test program: the unit tests, and what a room adds in its room.mk with TESTS += its programs. ./check runs each,
# and each tests/*/test_*.sh.
tests: $(UNIT) $(TESTS)
list-tests:
	@echo $(sort $(UNIT) $(TESTS))

check:
	./check

clean:
	rm -rf build build-san

.PHONY: all unit tests list-tests check check-metrics clean
-include $(OBJ:.o=.d) $(wildcard $(B)/bpf/*.d $(B)/unit/*.d)
