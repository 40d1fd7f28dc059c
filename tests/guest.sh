#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: tests/guest.sh base|patched [--mode insn|wall] [--append 'K=V ...'] PROGRAM [ARG...]
#
# Runs a program of out/tests/guest/ in a guest with that kernel and hands on
# what it wrote: KTAP. A guest that fails has no plan and counts as a failure.

set -euo pipefail
. "$(dirname "$0")/../lab/common.sh"

variant=$1
shift
mode=wall
append=
while [[ $# -gt 0 && $1 = --* ]]; do
	case $1 in
	--mode) mode=$2 ;;
	--append) append=$2 ;;
	*) bad_usage "unknown option $1" ;;
	esac
	shift 2
done
program=$1
shift

image=$("$top/lab/kernel" "$variant")
work=$(mktemp -d "${TMPDIR:-/tmp}/pagerun-guest.XXXXXX")
trap 'rm -rf "$work"' EXIT
code=0
"$top/lab/boot" --image "$image" --mode "$mode" --driver "$("$top/lab/driver" "$image")" \
	--append "$append" --add "$top/out/tests/guest/$program:/tests/$program" --out "$work" \
	-- "/tests/$program" "$@" || code=$?
cat "$work/result"
exit $code
