# Programs of bench/: one file each, linked with all but main(). The scripts beside them print the tables.
$(B)/bench/%: bench/%.c $(B)/libroost-all.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MT $@ -MF $@.d $< $(B)/libroost-all.a $(LDFLAGS) -o $@ $(LDLIBS)

# The base scheduler's figures, in a VM (about half an hour on two cores).
bench-base: all
	bench/base
.PHONY: bench-base
