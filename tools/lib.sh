# SPDX-License-Identifier: GPL-2.0-only
# What the tools share: the cache, plain refusals, and an apt of roost's own.
# Sourced by tools/deps, tools/fetch-kernel, tools/vm and the commands built on them. The sourcing script sets $top.
# shellcheck shell=sh

say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }
refuse() { say "${0##*/}: $*"; exit 2; }

roost_cache=${ROOST_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/roost}
mkdir -p "$roost_cache" 2>/dev/null || true
[ -w "$roost_cache" ] ||
	refuse "cannot write to the cache $roost_cache: set ROOST_CACHE to a directory of yours with 2 GB free"

# The release this machine runs: "bookworm", "trixie", or empty when it is no Debian.
os_field() { # FIELD
	[ -r /etc/os-release ] && sed -n "s/^$1=//p" /etc/os-release | tr -d '"'
}
host_codename() {
	[ "$(os_field ID)" = debian ] && os_field VERSION_CODENAME
	return 0
}
host_name() { os_field PRETTY_NAME; }
host_cache=$roost_cache/$(host_codename)
[ "$host_cache" != "$roost_cache/" ] || host_cache=$roost_cache/host

# with_lock NAME COMMAND...: two roosts on one machine must not unpack into one directory at a time.
with_lock() {
	lock=$roost_cache/$1.lock
	shift
	if [ "${ROOST_LOCKED:-}" = "$lock" ]; then
		"$@"
	else
		(
			flock 8
			ROOST_LOCKED=$lock
			export ROOST_LOCKED
			"$@" 8>&-
		) 8>"$lock"
	fi
}

# --- An apt of roost's own -------------------------------------------------------------------------
# Its lists, archives, preferences and package status live in the cache; the machine's own are only read.
# Proxies and the like still come from the machine's apt.conf. Signatures are checked by apt as always.
apt_dir=$host_cache/apt

# The mirror this machine uses for its own Debian packages, from its own sources.
host_mirror() {
	# shellcheck disable=SC2016
	m=$(apt-get indextargets --format '$(CREATED_BY) $(CODENAME) $(COMPONENT) $(REPO_URI)' 2>/dev/null |
		sed -n "s/^Packages $(host_codename) main //p" | head -n 1)
	# No package lists were ever fetched (a bare container): the address is in what an update would fetch.
	[ -n "$m" ] || m=$(apt-get --print-uris update 2>/dev/null |
		sed -n "s,^'\(.*\)/dists/$(host_codename)/InRelease' .*,\1,p" | head -n 1)
	printf '%s\n' "${m%/}"
}
host_security_mirror() {
	apt-get --print-uris update 2>/dev/null |
		sed -n "s,^'\(.*\)/dists/$(host_codename)-security/InRelease' .*,\1,p" | head -n 1
}

# What it may take from where. Kernels come from trixie-backports on every release; nothing else may.
# A script that needs other suites (kernel/build) gives itself an $apt_dir and these two of its own.
apt_preferences() {
	cat <<-PREF
		Package: *
		Pin: release n=trixie-backports
		Pin-Priority: $([ "$(host_codename)" = trixie ] && echo 100 || echo -1)

		Package: linux-image-* linux-binary-* linux-modules-* linux-base-*
		Pin: release n=trixie-backports
		Pin-Priority: 100
	PREF
}
apt_sources() {
	for s in "" -updates -backports; do
		echo "deb [signed-by=$keyring] $mirror $(host_codename)$s main"
	done
	security=$(host_security_mirror)
	[ -z "$security" ] || echo "deb [signed-by=$keyring] $security $(host_codename)-security main"
	[ "$(host_codename)" = trixie ] || echo "deb [signed-by=$keyring] $mirror trixie-backports main"
}

apt_setup() {
	[ -n "$(host_codename)" ] || die "packages and kernels are fetched with Debian's apt, and this is $(host_name)"
	command -v apt-get >/dev/null || die "apt-get is not here, so nothing can be fetched"
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -r "$keyring" ] || die "$keyring is missing: install debian-archive-keyring, without it no signature can be checked"
	mkdir -p "$apt_dir/lists/partial" "$apt_dir/archives/partial" "$apt_dir/state" "$apt_dir/none"
	cp /var/lib/dpkg/status "$apt_dir/state/status"
	cat >"$apt_dir/apt.conf" <<-CONF
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear DPkg::Pre-Install-Pkgs;
		#clear APT::Default-Release;
		Dir::Etc::sourcelist "$apt_dir/sources.list";
		Dir::Etc::sourceparts "$apt_dir/none";
		Dir::Etc::preferences "$apt_dir/preferences";
		Dir::Etc::preferencesparts "$apt_dir/none";
		Dir::State::lists "$apt_dir/lists";
		Dir::State::status "$apt_dir/state/status";
		Dir::State::extended_states "$apt_dir/state/extended_states";
		Dir::Cache "$apt_dir";
		Dir::Cache::archives "$apt_dir/archives";
		Dir::Cache::pkgcache "";
		Dir::Cache::srcpkgcache "";
		Dir::Log "$apt_dir/state";
		APT::Sandbox::User "$(id -un)";
		APT::Install-Recommends "false";
		APT::Architecture "amd64";
		APT::Architectures { "amd64"; };
		Acquire::Languages "none";
		Acquire::Retries "3";
	CONF
	apt_preferences >"$apt_dir/preferences"
	mirror=$(host_mirror)
	[ -n "$mirror" ] || die "this machine's apt sources name no Debian mirror for $(host_codename) main (see: apt-get indextargets)"
	apt_sources >"$apt_dir/sources.list.new"
	if cmp -s "$apt_dir/sources.list.new" "$apt_dir/sources.list"; then
		rm "$apt_dir/sources.list.new"
	else
		mv "$apt_dir/sources.list.new" "$apt_dir/sources.list"
		rm -f "$apt_dir/updated"
	fi
	# Lists a week old are still good for finding packages; a failed download refreshes them sooner.
	[ -n "$(find "$apt_dir/updated" -mtime -7 2>/dev/null)" ] || {
		[ ! -e "$apt_dir/updated" ] || ! (apt_update) || return 0
		[ -e "$apt_dir/updated" ] || apt_update
	}
}

private_apt() { # apt-get|apt-cache ARGS...
	cmd=$1
	shift
	DEBIAN_FRONTEND=noninteractive "$cmd" -c "$apt_dir/apt.conf" "$@"
}

apt_update() {
	say "fetching package lists from $(sed -n '1s/.*] \([^ ]*\) .*/\1/p' "$apt_dir/sources.list")"
	private_apt apt-get -qq update >"$apt_dir/update.log" 2>&1 || {
		cat "$apt_dir/update.log" >&2
		die "the package lists could not be fetched (above); is the mirror reachable and does it carry trixie-backports?"
	}
	touch "$apt_dir/updated"
}

# unpack DIR [-t SUITE] PACKAGE...: the packages, and those they need that this machine lacks, unpacked into DIR.
unpack() {
	dir=$1
	shift
	apt_setup
	# A folder of its own: kernels and tools may be fetched at the same time.
	debs=$dir.debs
	rm -rf "$debs" "$dir.new"
	mkdir -p "$debs/partial" "$dir.new"
	private_apt apt-get -qq -y -o Dir::Cache::archives="$debs" --download-only install "$@" >"$dir.log" 2>&1 || {
		apt_update
		private_apt apt-get -qq -y -o Dir::Cache::archives="$debs" --download-only install "$@" >"$dir.log" 2>&1 || {
			cat "$dir.log" >&2
			die "could not download: $* (above)"
		}
	}
	for d in "$debs"/*.deb; do
		[ ! -e "$d" ] || dpkg-deb -x "$d" "$dir.new" || die "could not unpack $d"
	done
	rm -rf "$debs" "$dir.log" "$dir"
	mv "$dir.new" "$dir"
}

# --- What was unpacked -----------------------------------------------------------------------------
# guest_tool NAME: the path of a program for the guest: from the cache, else the machine's own.
guest_tool() {
	for d in "$host_cache"/pkg/*/usr/bin "$host_cache"/pkg/*/bin "$host_cache"/pkg/*/usr/sbin /usr/bin /bin /usr/sbin /sbin; do
		[ ! -x "$d/$1" ] || {
			printf '%s\n' "$d/$1"
			return 0
		}
	done
	return 1
}

# Directories of unpacked libraries, for LD_LIBRARY_PATH. One with a C library of its own (kernel/build's pahole)
# would break every program here.
cache_libs() {
	r=
	for d in "$host_cache"/pkg/*/usr/lib/x86_64-linux-gnu "$host_cache"/pkg/*/lib/x86_64-linux-gnu; do
		[ ! -d "$d" ] || [ -e "$d/libc.so.6" ] || r=$r${r:+:}$d
	done
	printf '%s\n' "$r"
}

# cached NAME ARG...: runs a program that tools/deps may have unpacked instead of installed.
cached() {
	cached_program=$(guest_tool "$1") || die "no $1: run tools/deps report"
	shift
	LD_LIBRARY_PATH=$(cache_libs) "$cached_program" "$@"
}

# Version of a QEMU program as MAJOR, or nothing when it does not run.
qemu_major() {
	LD_LIBRARY_PATH=$(cache_libs) "$1" --version 2>/dev/null | sed -n '1s/.*version \([0-9]*\).*/\1/p'
}

# The QEMU to use: 10 or newer, the cache's or the machine's own.
find_qemu() {
	for q in "$host_cache/pkg/qemu-system-x86/usr/bin/qemu-system-x86_64" "$(command -v qemu-system-x86_64 || true)"; do
		[ -x "$q" ] || continue
		v=$(qemu_major "$q")
		[ "${v:-0}" -lt 10 ] || {
			printf '%s\n' "$q"
			return 0
		}
	done
	return 1
}
