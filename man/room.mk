# The manual: one page for roost, one a subcommand, one for the knobs, made from the program's own tables
# (roost __man) and the prose in man/*.in. Pages written by hand (man/*.[1-8]) are installed as they are.

MAN_COMMANDS := $(shell sed -n 's/^COMMAND.\([a-z][a-z_]*\),.*/\1/p' src/cli/commands.def)
MAN_PAGES := $(B)/man/roost.1 $(B)/man/roost-knobs.7 $(foreach c,$(MAN_COMMANDS),$(B)/man/roost-$(subst _,-,$(c)).1)
COMPLETIONS := $(foreach s,bash zsh fish,$(B)/completions/roost.$s)

man: $(MAN_PAGES) $(COMPLETIONS)
.PHONY: man

$(B)/man/roost.1: $(B)/roost man/roost.in
	@mkdir -p $(@D)
	$(B)/roost __man roost man/roost.in >$@.new && mv $@.new $@

$(B)/man/roost-knobs.7: $(B)/roost man/knobs.in
	@mkdir -p $(@D)
	$(B)/roost __man knobs man/knobs.in >$@.new && mv $@.new $@

# A subcommand without prose still has its page.
define man_page
$$(B)/man/roost-$(subst _,-,$(1)).1: $$(B)/roost $$(wildcard man/$(1).in)
	@mkdir -p $$(@D)
	$$(B)/roost __man $(1) $$(wildcard man/$(1).in) >$$@.new && mv $$@.new $$@
endef
$(foreach c,$(MAN_COMMANDS),$(eval $(call man_page,$(c))))

$(B)/completions/roost.%: $(B)/roost
	@mkdir -p $(@D)
	$(B)/roost __complete $* >$@.new && mv $@.new $@
