#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# liburing's own tests of registered buffers, on both kernels: each ends alike. Those that
# fail or skip on the base, which is newer than they are, do so on the patched kernel too.
#
# usage: tests/lab/liburing.sh

set -euo pipefail
cd "$(dirname "$0")/../.."
. lab/common.sh
. tests/ktap.sh

# Seconds for each. One of them waits for ever on a kernel that can what it expects to be
# refused.
limit=20
stats=/sys/kernel/mm/pagerun/stats
work=$(mktemp -d "${TMPDIR:-/tmp}/pagerun-liburing.XXXXXX")
trap 'rm -rf "$work"' EXIT
programs=$(lab/program liburing)
runner=$(guest_runner)
build_tool
mapfile -t tests <"$programs/buffers"
add=(--add "$runner:/selftest/runner" --add "$programs/buffers:/selftest/runs")
for test in "${tests[@]}"; do
	add+=(--add "$programs/$test:/selftest/$test")
done

# boot VARIANT: into files VARIANT.{out,err}, and VARIANT.ends with a line a test.
boot()
{
	local image

	image=$(lab/kernel "$1") || return
	# Tests that fail make the runner fail; what counts is that all of them ended.
	lab/boot --image "$image" --mode wall --timeout 400 \
		--append 'hugepages=64 transparent_hugepage=always null_blk.memory_backed=1 null_blk.gb=1' \
		"${add[@]}" --out "$work/$1" -- /selftest/runner limit=$limit $stats >"$work/$1.out" 2>"$work/$1.err" || true
	awk '/^# selftest: run: / { test = $4 }
		/^# selftest: ended / { print test, $4, $5, $6 }' "$work/$1/result" >"$work/$1.ends"
}

# 77 is their word for skipped.
count()
{
	awk '{ n[/ with 0/ ? "pass" : / with 77/ ? "skip" : "fail"]++ }
		END { printf "pass %d, fail %d, skip %d\n", n["pass"], n["fail"], n["skip"] }' "$1"
}

all_ended()
{
	local v

	for v in base patched; do
		[ "$(wc -l <"$work/$v.ends")" -eq ${#tests[@]} ] || {
			tail -n 5 "$work/$v.err"
			echo "on the $v kernel not all of them ended"
			return 1
		}
		! grep '^init: kernel log: ' "$work/$v/console" || return 1
	done
}

some_pass()
{
	grep -E '^(rsrc_tags|read-write)\..* with 0' "$work/base.ends" | grep -c . | grep -qx 2
}

# What the statistics say of the patched kernel.
by_the_run()
{
	grep "^# selftest: shows $stats: register " "$work/patched/result"
	awk '$5 == "register" && $7 > 0 && $9 > $7 { found = 1 } END { exit !found }' "$work/patched/result"
}

same()
{
	diff "$work/base.ends" "$work/patched.ends"
}

ktap_plan 4
boot base &
boot patched
wait
for v in base patched; do
	echo "# on $v: $(count "$work/$v.ends")"
	grep -v ' with 0' "$work/$v.ends" | sed 's/^/#   /' || true
done
ktap "liburing's tests end on both kernels, and their logs are clean" all_ended
ktap "some of them pass" some_pass
ktap "buffers were registered by the run" by_the_run
ktap "each of them ends alike on both" same
ktap_done
