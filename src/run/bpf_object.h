/* SPDX-License-Identifier: GPL-2.0-only */
/* bpf_object.h - where the embedded BPF object begins and ends. */
#ifndef ROOST_RUN_BPF_OBJECT_H
#define ROOST_RUN_BPF_OBJECT_H

extern const char roost_bpf_object_begin[], roost_bpf_object_end[];

#endif
