# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# What the scripts of the lab share. To be sourced, with the script's own name
# in $0. Messages go to stderr, so that stdout holds data alone.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pagerun

say()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# die MESSAGE: what is wrong and what to do about it, in one line.
die()
{
	progress_end
	say "$*"
	exit 1
}

# A wrong command line is told apart from work that failed: 2, not 1.
bad_usage()
{
	say "$*; see ${0##*/} --help"
	exit 2
}

# usage: prints the comment block at the top of the script as its help.
usage()
{
	sed -n '/^# usage:/,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$0"
	exit 0
}

need_value()
{
	[ $# -ge 2 ] || bad_usage "$1 needs a value"
}

# progress TEXT: a line that is overwritten on a terminal, kept elsewhere.
progress()
{
	if [ -t 2 ]; then
		printf '\r\033[K%s: %s' "${0##*/}" "$*" >&2
		progress_open=1
	else
		say "$*"
	fi
}

progress_end()
{
	[ -z "${progress_open-}" ] || printf '\r\033[K' >&2
	progress_open=
}

# as_root COMMAND...: for the package manager only.
as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "needs root for '$*': run it as root, or install sudo"
	fi
}

# lock FILE: waits until no other run holds it; kept until the script ends.
lock()
{
	mkdir -p "$(dirname "$1")" || die "cannot make $(dirname "$1"): set XDG_CACHE_HOME to a folder that you may write"
	exec {lock_fd}>"$1"
	flock -n "$lock_fd" && return
	say "waits for another run that uses ${1%.lock}"
	flock "$lock_fd"
}

# need_room DIR MIB WHAT: stops unless the disk of DIR has room.
need_room()
{
	local dir=$1 mib=${PAGERUN_ROOM_MIB:-$2} free

	while [ ! -d "$dir" ]; do dir=$(dirname "$dir"); done
	free=$(df -Pm "$dir" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$mib" ] ||
		die "no disk room for $3: $1 needs $mib MiB, $free MiB are free; make room or set XDG_CACHE_HOME to another disk"
}

# The version directory of the hooks: Linux 6.12 is the first base.
hooks=$top/hooks/6.12

# hook_files: the paths of the base that the hooks change, one a line.
hook_files()
{
	(cd "$hooks" && xargs cat <series) |
		sed -n 's,^--- a/\([^\t]*\).*,\1,p' | sort -u
}

# hook_repository TREE DIR: a git repository with the files of TREE that the
# hooks change, all that git am needs of a tree.
hook_repository()
{
	local file

	git init -q -b base "$2"
	while read -r file; do
		(cd "$1" && cp --parents "$file" "$2")
	done < <(hook_files)
	git -C "$2" add -A
	git -C "$2" -c user.name=pagerun -c user.email=pagerun@localhost commit -q -m base
}

# apply_hook HOOK DIR: no fuzz; a reject is told by hook, file and hunk.
apply_hook()
{
	local log line file

	log=$(cd "$2" && GIT_CEILING_DIRECTORIES=$(dirname "$(pwd -P)") GIT_CONFIG_NOSYSTEM=1 \
		GIT_CONFIG_GLOBAL=/dev/null LC_ALL=C git apply "$hooks/$1" 2>&1) && return
	line=$(sed -n 's/^error: patch failed: .*:\([0-9]*\)$/\1/p' <<<"$log" | head -n 1)
	if [ -n "$line" ]; then
		file=$(sed -n 's/^error: patch failed: \(.*\):[0-9]*$/\1/p' <<<"$log" | head -n 1)
		say "$1 does not apply: $file, hunk $(grep -m 1 -- "^@@ -${line}[, ]" "$hooks/$1")"
	else
		say "$1 does not apply: $(head -n 1 <<<"$log")"
	fi
	return 1
}

# stage TREE DIR: puts into DIR all files in which the patched kernel differs
# from TREE, as they are when patched.
stage()
{
	local file hook

	while read -r file; do
		[ ! -e "$1/$file" ] || (cd "$1" && cp --parents "$file" "$2")
	done < <(hook_files)
	while read -r file; do
		[ ! -e "$1/$file" ] || die "kernel/$file exists in the base: kernel/ may only add files"
	done < <(cd "$top/kernel" && find . -type f -printf '%P\n')
	cp -r "$top/kernel/." "$2"
	while read -r hook; do
		apply_hook "$hook" "$2" || return 1
	done <"$hooks/series"
}

hash_stdin()
{
	sha256sum | cut -d' ' -f1
}

hash_file()
{
	hash_stdin <"$1"
}

# hash_tree DIR...: names and contents of all files below, whatever their
# dates; a DIR that does not exist counts as empty.
hash_tree()
{
	local dir

	for dir; do
		[ ! -d "$dir" ] || (cd "$dir" && find . -type f ! -name '.*.swp' -print0 |
			LC_ALL=C sort -z | xargs -0r sha256sum)
		echo "end of a folder"
	done | hash_stdin
}

# json_write FILE KEY VALUE...: one string a line; whole or not at all.
json_write()
{
	local file=$1 comma=

	shift
	{
		printf '{'
		while [ $# -gt 0 ]; do
			printf '%s\n\t"%s": "%s"' "$comma" "$1" "$2"
			comma=,
			shift 2
		done
		printf '\n}\n'
	} >"$file.tmp"
	mv "$file.tmp" "$file"
}

# json_get FILE KEY: a value that json_write wrote; empty if the file is absent,
# cut short or lacks the key, which callers take for "not there".
json_get()
{
	[ -f "$1" ] && [ "$(tail -n 1 "$1")" = "}" ] || return 0
	sed -n "s/^\t\"$2\": \"\(.*\)\",\{0,1\}\$/\1/p" "$1"
}

compiler()
{
	gcc --version | head -n 1
}

# prune DIR KEEP: removes the least recently used entries beyond KEEP.
prune()
{
	find "$1" -mindepth 1 -maxdepth 1 ! -name '.*' -printf '%T@ %p\n' | sort -rn |
		tail -n +$(($2 + 1)) | cut -d' ' -f2- | while read -r old; do
		rm -rf "$old"
	done
}

# sync_tree SOURCE STAGE TREE: makes TREE the tree of SOURCE (a folder of
# lab/source) plus the files of STAGE. Only what differs is written, so that
# make sees just that. The files of TREE are links into SOURCE until they
# differ, so none is ever written into; and what is not SOURCE's any more has
# one link, which also finds the leftovers of a run that was cut off.
sync_tree()
{
	local file id

	id="$(json_get "$1/package.json" tree_fingerprint) $(stat -c %i "$1/tree/Makefile")"
	if [ "$(cat "$3.id" 2>/dev/null)" != "$id" ]; then
		rm -rf "$3" "$3.id"
		cp -al "$1/tree" "$3"
		echo "$id" >"$3.id"
	fi
	while read -r file; do
		if [ -e "$2/$file" ]; then
			continue
		elif [ ! -e "$1/tree/$file" ]; then
			rm "$3/$file"
			(cd "$3" && rmdir -p --ignore-fail-on-non-empty "$(dirname "$file")")
		elif ! cmp -s "$1/tree/$file" "$3/$file"; then
			put "$1/tree" "$file" "$3"
		fi
	done < <(find "$3" -type f -links 1 -printf '%P\n')
	while read -r file; do
		cmp -s "$2/$file" "$3/$file" || put "$2" "$file" "$3"
	done < <(find "$2" -name .git -prune -o -type f -printf '%P\n')
}

# put FROM FILE TREE: as a new file, never into the old one.
put()
{
	mkdir -p "$(dirname "$3/$2")"
	cp "$1/$2" "$3/$2.new"
	mv "$3/$2.new" "$3/$2"
}

# kbuild_environment: nothing of the caller's environment reaches kbuild.
kbuild_environment()
{
	export LC_ALL=C LOCALVERSION=
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES ARCH CROSS_COMPILE KCFLAGS \
		KBUILD_OUTPUT KCONFIG_CONFIG KCONFIG_ALLCONFIG
}

need_qemu()
{
	command -v qemu-system-x86_64 >/dev/null ||
		die "qemu-system-x86_64 is not installed; lab/deps installs it"
}

# rows_depend_on IMAGE DRIVER: all that the rows of a guest depend on but what it
# is told to run, to be hashed.
rows_depend_on()
{
	cat "$1/kernel.json"
	hash_file "$2"
	hash_file "$top/tool/pagerun"
	hash_file "$top/lab/boot"
	qemu-system-x86_64 --version
}

# build_tool: tool/pagerun, static, for the host and for the guest.
build_tool()
{
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$top/tool" >&2 || die "the pagerun program does not build (see above)"
}

# guest_runner: builds what starts programs of others in a guest, and prints its path.
guest_runner()
{
	local runner

	runner=$cache/programs/runner-$(hash_file "$top/lab/selftest.c" | cut -c1-16)
	if [ ! -x "$runner" ]; then
		mkdir -p "${runner%/*}"
		gcc -std=gnu11 -D_GNU_SOURCE= -O2 -Wall -Wextra -Werror -static -o "$runner.$$" "$top/lab/selftest.c" >&2 ||
			die "lab/selftest.c does not build (see above)"
		mv "$runner.$$" "$runner"
	fi
	echo "$runner"
}
