# The machine files go into the program as text.
MACHINES := $(sort $(wildcard machines/*.machine machines/*.costs))
LIBOBJ += $(B)/obj/gen/machines.o

$(B)/gen/machines.c: $(MACHINES) src/topology/embed
	@mkdir -p $(@D)
	sh src/topology/embed $(MACHINES) > $@.tmp
	mv $@.tmp $@

$(B)/obj/gen/machines.o: $(B)/gen/machines.c src/topology/embedded.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@
