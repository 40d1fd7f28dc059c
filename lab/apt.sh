# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Packages from the archives that this machine uses, through an apt root of its own in
# $tmp, a folder of the caller's: nothing is installed and nothing on the machine changes.
# To be sourced after common.sh.

# need PROGRAM PACKAGE... - all that are missing are told in one line
need()
{
	local missing=()

	while [ $# -gt 0 ]; do
		command -v "$1" >/dev/null || missing+=("$2")
		shift 2
	done
	[ ${#missing[@]} -eq 0 ] ||
		die "not installed: ${missing[*]}; run: apt-get install ${missing[*]}"
}

# run WHAT COMMAND... - with the output in a log, whose end is shown on failure
run()
{
	local what=$1

	shift
	say "$what"
	"$@" >"$tmp/log" 2>&1 || {
		tail -n 15 "$tmp/log" >&2
		die "failed: $what"
	}
}

# uri_of RELEASE-PATTERN - archive from which the machine gets that release.
# Debian's own goes first; without fetched lists nobody knows whose it is.
uri_of()
{
	# shellcheck disable=SC2016 # it is apt that expands these
	apt-get indextargets --format '$(ORIGIN) $(RELEASE) $(COMPONENT) $(REPO_URI)' \
		'Created-By: Packages' |
		awk -v want="^($1)\$" '
			$(NF - 2) ~ want && $(NF - 1) == "main" {
				if ($1 == "Debian") { print $NF; found = 1; exit }
				if (first == "") first = $NF
			}
			END { if (!found && first != "") print first }'
}

# apt_here - stops unless there is an apt that can be used; sets codename
apt_here()
{
	need apt-get apt awk mawk
	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME-}")
	[ -n "$codename" ] || die "no VERSION_CODENAME in /etc/os-release: needs Debian 12 or later"
}

# make_apt_root SUITE... - the private apt root; apt_do uses it from then on. With
# apt_types='deb deb-src' it has source packages, whether the machine's own sources have
# them or not
make_apt_root()
{
	local main security suite uri type keyring=

	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -r "$keyring" ] ||
		die "no $keyring; run: apt-get install debian-archive-keyring"
	main=$(uri_of "$codename|stable|oldstable|testing")
	[ -n "$main" ] ||
		die "apt on this machine has no source for Debian $codename main; add one to /etc/apt/sources.list.d"
	security=$(uri_of "($codename|stable|oldstable|testing)-security")

	root=$tmp/apt
	mkdir -p "$root"/state/lists/partial "$root"/cache/archives/partial \
		"$root"/etc
	for suite; do
		uri=$main
		if [[ $suite == *-security ]]; then
			uri=$security
			[ -n "$uri" ] || continue
		fi
		for type in ${apt_types:-deb}; do
			printf '%s [signed-by=%s] %s %s main\n' "$type" "$keyring" "$uri" "$suite"
		done
	done >"$root/etc/sources.list"
	run "reading the package lists of $*" apt_do apt-get update
}

apt_do()
{
	local program=$1

	shift
	# As root apt would give its downloads to a user who cannot reach $tmp.
	"$program" -q -o Dir::State="$root/state" -o Dir::Cache="$root/cache" \
		-o Dir::State::status=/dev/null -o Dir::Etc::sourceparts=- \
		-o Dir::Etc::sourcelist="$root/etc/sources.list" \
		-o Dir::Etc::preferencesparts=/dev/null -o Dir::Etc::preferences=/dev/null \
		-o APT::Sandbox::User= "$@"
}

# fetch PACKAGE... - into $tmp/debs
fetch()
{
	mkdir -p "$tmp/debs"
	(cd "$tmp/debs" && run "fetching $*" apt_do apt-get download "$@")
}
