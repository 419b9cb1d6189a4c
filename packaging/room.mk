# make install [DESTDIR=] [PREFIX=/usr/local], make uninstall: the program, its second name, manual,
# completion, the client library, the systemd unit (its paths, and those of the .pc file,
# are written here: PREFIX may differ from that of the build). /etc/roost/roost.conf is left alone where there is one.

BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DATADIR ?= $(PREFIX)/share
UNITDIR ?= $(if $(filter /usr,$(PREFIX)),/usr/lib,$(PREFIX)/lib)/systemd/system
SYSCONFDIR ?= /etc
INSTALL ?= install

install: all man
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/roost $(DESTDIR)$(MANDIR)/man1 \
		$(DESTDIR)$(MANDIR)/man3 $(DESTDIR)$(MANDIR)/man7 $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSCONFDIR)/roost/profiles \
		$(DESTDIR)$(DATADIR)/bash-completion/completions $(DESTDIR)$(DATADIR)/zsh/site-functions \
		$(DESTDIR)$(DATADIR)/fish/vendor_completions.d
	$(INSTALL) -m 755 $(B)/roost $(DESTDIR)$(BINDIR)/roost
	ln -sf roost $(DESTDIR)$(BINDIR)/scx_roost
	$(INSTALL) -m 644 include/roost/*.h $(DESTDIR)$(INCLUDEDIR)/roost/
	$(INSTALL) -m 644 $(B)/libroost-slice.a $(DESTDIR)$(LIBDIR)/
	$(INSTALL) -m 755 $(SLICE_SO) $(B)/libroost-spin.so $(DESTDIR)$(LIBDIR)/
	ln -sf $(notdir $(SLICE_SO)) $(DESTDIR)$(LIBDIR)/$(SLICE_SONAME)
	ln -sf $(SLICE_SONAME) $(DESTDIR)$(LIBDIR)/libroost-slice.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' src/slice/roost-slice.pc.in \
		>$(DESTDIR)$(LIBDIR)/pkgconfig/roost-slice.pc
	chmod 644 $(DESTDIR)$(LIBDIR)/pkgconfig/roost-slice.pc
	for p in $(MAN_PAGES) $(wildcard man/*.[1-8]); do \
		$(INSTALL) -m 644 $$p $(DESTDIR)$(MANDIR)/man$${p##*.}/ || exit 1; done
	ln -sf roost-run.1 $(DESTDIR)$(MANDIR)/man1/scx_roost.1
	$(INSTALL) -m 644 $(B)/completions/roost.bash $(DESTDIR)$(DATADIR)/bash-completion/completions/roost
	ln -sf roost $(DESTDIR)$(DATADIR)/bash-completion/completions/scx_roost
	$(INSTALL) -m 644 $(B)/completions/roost.zsh $(DESTDIR)$(DATADIR)/zsh/site-functions/_roost
	$(INSTALL) -m 644 $(B)/completions/roost.fish $(DESTDIR)$(DATADIR)/fish/vendor_completions.d/roost.fish
	sed -e 's|@PREFIX@|$(PREFIX)|' packaging/roost.service >$(DESTDIR)$(UNITDIR)/roost.service
	chmod 644 $(DESTDIR)$(UNITDIR)/roost.service
	[ -e $(DESTDIR)$(SYSCONFDIR)/roost/roost.conf ] || \
		$(INSTALL) -m 644 packaging/roost.conf $(DESTDIR)$(SYSCONFDIR)/roost/roost.conf

# What install put there, except /etc/roost, which is the administrator's.
uninstall:
	rm -f $(DESTDIR)$(BINDIR)/roost $(DESTDIR)$(BINDIR)/scx_roost $(DESTDIR)$(LIBDIR)/libroost-slice.a \
		$(DESTDIR)$(LIBDIR)/libroost-slice.so $(DESTDIR)$(LIBDIR)/$(SLICE_SONAME) \
		$(DESTDIR)$(LIBDIR)/$(notdir $(SLICE_SO)) $(DESTDIR)$(LIBDIR)/libroost-spin.so \
		$(DESTDIR)$(LIBDIR)/pkgconfig/roost-slice.pc $(DESTDIR)$(MANDIR)/man1/scx_roost.1 \
		$(DESTDIR)$(DATADIR)/bash-completion/completions/roost $(DESTDIR)$(DATADIR)/bash-completion/completions/scx_roost \
		$(DESTDIR)$(DATADIR)/zsh/site-functions/_roost $(DESTDIR)$(DATADIR)/fish/vendor_completions.d/roost.fish \
		$(DESTDIR)$(UNITDIR)/roost.service
	for p in $(MAN_PAGES) $(wildcard man/*.[1-8]); do rm -f $(DESTDIR)$(MANDIR)/man$${p##*.}/$${p##*/}; done
	for h in include/roost/*.h; do rm -f $(DESTDIR)$(INCLUDEDIR)/roost/$${h##*/}; done
	-rmdir $(DESTDIR)$(INCLUDEDIR)/roost 2>/dev/null

.PHONY: install uninstall
