# Kernels with roost's policies in the fair class itself: see docs/kernel.md.
#   make kernel VERSION=7.3 [FEATURES=idle-grace,bias-prev|all|none] [DEBUG=1]
#   make check-kernel-apply     the semantic patches on small trees (part of ./check)
#   make check-kernel-patches   everything: builds, boots, parity, faults, figures (hours)
FEATURES ?= all
KERNEL_VERSION := $(if $(filter command line,$(origin VERSION)),$(VERSION),7.3)

kernel:
	@kernel/build $(KERNEL_VERSION) --features='$(FEATURES)' $(if $(filter 1,$(DEBUG)),--debug)

check-kernel-apply:
	tests/kernel/test_apply.sh

check-kernel-patches: all vm-guest
	tests/kernel/check-patches $(STEPS)

.PHONY: kernel check-kernel-apply check-kernel-patches
