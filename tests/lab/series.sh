#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The series: git am takes it, checkpatch has nothing to say, and what it gives
# builds after each patch, with each feature alone and with none, and on 32 bits.
# Objects alone are built, with gcc's W=1 and, for the files that are ours or
# hooked, sparse; a warning in those is a failure. What was built without one is
# not built again as long as all that it was made from stays the same.

set -euo pipefail
. "$(dirname "$0")/../../lab/common.sh"
. "$top/tests/ktap.sh"
kbuild_environment

source=$("$top/lab/source")
check=$cache/check/$(json_get "$source/package.json" version)
tree=$check/tree
lock "$check.lock"
mkdir -p "$check"
work=$(mktemp -d "${TMPDIR:-/tmp}/pagerun-series.XXXXXX")
trap 'wait; rm -rf "$work"' EXIT

# What checkpatch may say: that a sign-off is missing (the user gives it, by git
# am --signoff), that MAINTAINERS should name new files (for the tree's owners to
# decide), of trace headers that they do not look like C (they do not), and that
# map should include a header that not every 6.12 has.
checkpatch()
{
	local said

	said=$(cd "$work" && perl "$source/tree/scripts/checkpatch.pl" --root="$source/tree" --strict --terse --showfile --show-types \
		--no-summary --no-signoff --ignore FILE_PATH_CHANGES "$1" |
		grep -vE -e '^include/trace/events/[^ ]* CHECK:(OPEN_ENDED_LINE|PARENTHESIS_ALIGNMENT):' \
			-e '^mm/pagerun/map_split[^ ]* WARNING:INCLUDE_LINUX: Use #include <linux/pgalloc.h>')
	echo "$said"
	[ -z "$said" ]
}

# configure NAME ARCH SYMBOL...: the perf configuration, changed.
configure()
{
	local fragment=$check/$1.fragment

	mkdir -p "$check/$1"
	{
		cat "$top/lab/config/perf.config"
		printf 'CONFIG_%s\n' "${@:3}"
	} >"$fragment"
	make -s -C "$tree" O="$check/$1" ARCH="$2" KCONFIG_ALLCONFIG="$fragment" allnoconfig
}

# objects NAME ARCH TARGET...: no warning of gcc in any, no new one of sparse in
# ours.
objects()
{
	local args=(-s -C "$tree" O="$check/$1" ARCH="$2" -j"$(nproc)" W=1 KCFLAGS=-Werror) targets=("${ours[@]}")

	! grep -q '^CONFIG_PAGERUN=y' "$check/$1/.config" || targets+=(mm/pagerun/)
	[ $# -eq 2 ] || make "${args[@]}" "${@:3}" || return 1
	make "${args[@]}" C=2 "${targets[@]}" >"$work/sparse.$1" 2>&1 || { cat "$work/sparse.$1"; return 1; }
	sed -nE "s,^$tree/([^:]*):[0-9]+:[0-9]+: ((warning|error): .*),\1: \2,p" "$work/sparse.$1" |
		LC_ALL=C sort -u >"$work/now.$1"
	[ -f "$work/base" ] || cp "$work/now.$1" "$work/base"
	! LC_ALL=C comm -13 "$work/base" "$work/now.$1" | grep .
}

# The base has warnings of its own, which set the mark.
base()
{
	mkdir "$work/none"
	sync_tree "$source" "$work/none" "$tree" && configure x86_64 x86_64 && objects x86_64 x86_64
}

# prefix COMMIT: the tree after this patch of the series, all of mm/.
prefix()
{
	git -C "$work/am" checkout -q "$1" && sync_tree "$source" "$work/am" "$tree" &&
		configure x86_64 x86_64 && objects x86_64 x86_64 mm/
}

# variant SYMBOL...: with the whole series, on 64 bits, all of mm/.
variant()
{
	configure x86_64 x86_64 "$@" && objects x86_64 x86_64 mm/
}

# variant32 NAME SYMBOL...: with the whole series, on 32 bits. Begun early, as it
# runs beside the others; its result is a file.
variant32()
{
	local code=0

	{ configure "$1" i386 64BIT=n "${@:2}" && objects "$1" i386; } >"$work/said.$1" 2>&1 || code=$?
	echo $code >"$work/code.tmp"
	mv "$work/code.tmp" "$work/code.$1"
}

result32()
{
	while [ ! -f "$work/code.$1" ]; do sleep 0.1; done
	cat "$work/said.$1"
	return "$(<"$work/code.$1")"
}

series()
{
	"$top/lab/series" --out "$work/series" &&
		hook_repository "$source/tree" "$work/am" &&
		git -C "$work/am" -c user.name=pagerun -c user.email=pagerun@localhost am -q "$work"/series/*.patch
}

key=$({
	hash_tree "$top/kernel" "$hooks" "$top/lab" "$top/tests/lab"
	json_get "$source/package.json" tree_fingerprint
	compiler
	sparse --version
} | hash_stdin)
known=
[ "$(cat "$check/passed" 2>/dev/null)" != "$key" ] || known=", as it did before"

# build NAME COMMAND...: a test, unless its result is known.
build()
{
	if [ -n "$known" ]; then
		ktap "$1$known" true
	else
		ktap "$@"
	fi
}

mapfile -t features < <(sed -n 's/^000[1-9]-\(.*\)\.patch$/\U\1/p' "$hooks/series")
mapfile -t ours < <(hook_files | sed -n 's/\.c$/.o/p')
mapfile -t patches <"$hooks/series"
ktap_plan $((2 + 2 * ${#patches[@]} + 1 + ${#features[@]} + 1 + 3))

ktap "git am takes the series, and it gives what the lab builds" series
for patch in "$work"/series/*.patch; do
	ktap "checkpatch: ${patch##*/}" checkpatch "$patch"
done
build "the base builds" base
commits=$(git -C "$work/am" rev-list --reverse HEAD | tail -n +2)
for commit in $commits; do
	build "builds after: $(git -C "$work/am" log -1 --format=%s "$commit")" prefix "$commit"
done

[ -n "$known" ] || {
	variant32 i386 NOHIGHMEM=y
	variant32 i386-pae HIGHMEM64G=y X86_PAE=y
	variant32 i386-up SMP=n
} &
off=("${features[@]/#/PAGERUN_}")
build "builds with pagerun off" variant PAGERUN=n
build "builds with no feature" variant "${off[@]/%/=n}"
for feature in "${features[@]}"; do
	build "builds with $feature alone" variant "${off[@]/%/=n}" "PAGERUN_$feature=y"
done
build "builds for i386 without high memory" result32 i386
build "builds for i386 with PAE" result32 i386-pae
build "builds for i386 without SMP" result32 i386-up
[ "$ktap_failed" -ne 0 ] || echo "$key" >"$check/passed"
ktap_done
