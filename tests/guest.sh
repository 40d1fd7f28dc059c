#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: tests/guest.sh KERNEL [--mode insn|wall] [--cpu MODEL] [--append 'K=V ...'] [--timeout S] PROGRAM [ARG...]
#
# Runs a program of out/tests/guest/ in a guest with that kernel and hands on
# what it wrote: KTAP. A guest that fails has no plan and counts as a failure.
# KERNEL is base or patched, or patched-debug for the image of lab/kernel --mode debug.

set -euo pipefail
. "$(dirname "$0")/../lab/common.sh"

variant=${1%%-*}
image_mode=perf
[[ $1 != *-* ]] || image_mode=${1#*-}
shift
mode=wall
append=
cpu=
timeout=300
while [[ $# -gt 0 && $1 = --* ]]; do
	case $1 in
	--mode) mode=$2 ;;
	--append) append=$2 ;;
	--cpu) cpu=$2 ;;
	--timeout) timeout=$2 ;;
	*) bad_usage "unknown option $1" ;;
	esac
	shift 2
done
program=$1
shift

image=$("$top/lab/kernel" "$variant" --mode "$image_mode")
work=$(mktemp -d "${TMPDIR:-/tmp}/pagerun-guest.XXXXXX")
trap 'rm -rf "$work"' EXIT
code=0
"$top/lab/boot" --image "$image" --mode "$mode" --driver "$("$top/lab/driver" "$image")" \
	${cpu:+--cpu "$cpu"} --append "$append" --timeout "$timeout" --add "$top/out/tests/guest/$program:/tests/$program" --out "$work" \
	-- "/tests/$program" "$@" || code=$?
cat "$work/result"
exit $code
