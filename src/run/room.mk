# The BPF object is embedded by .incbin: rebuild what holds it when it changes.
$(B)/obj/src/run/bpf_object.o: build/bpf/roost.bpf.o
$(B)/obj/src/run/bpf_object.o: CPPFLAGS += -DROOST_BPF_OBJECT='"build/bpf/roost.bpf.o"'
