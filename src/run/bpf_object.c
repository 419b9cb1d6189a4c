/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bpf_object.c - the compiled BPF object, carried inside the program: nothing to install beside it.
 */
#include "run/bpf_object.h"

__asm__(".section .rodata\n"
	".balign 16\n"
	".global roost_bpf_object_begin\n"
	".global roost_bpf_object_end\n"
	"roost_bpf_object_begin:\n"
	".incbin \"" ROOST_BPF_OBJECT "\"\n"
	"roost_bpf_object_end:\n"
	".previous\n");
