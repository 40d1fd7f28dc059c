#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# fio as a cross-check of bench dio: both kernels, equal settings, 64 kB folios, the clock
# that counts instructions. What fio saves per KiB is what bench dio says is saved.
#
# usage: tests/lab/fio.sh

set -euo pipefail
cd "$(dirname "$0")/../.."
. lab/common.sh
. tests/ktap.sh

# Engine | depth | request. With more to read, a millisecond counts less.
jobs=(
	"psync|1|64k"
	"psync|1|1m"
	"io_uring|16|64k"
	"io_uring|16|1m"
)
size_mib=2048
# fio has its own work around each request, the same on both kernels.
tolerance=15

work=$(mktemp -d "${TMPDIR:-/tmp}/pagerun-fio.XXXXXX")
trap 'rm -rf "$work"' EXIT
fio=$(lab/program fio)/fio
build_tool
declare -A image
for v in base patched; do
	image[$v]=$(lab/kernel $v)
done

# run VARIANT NR: milliseconds, of a million instructions each, into NR.VARIANT.
run()
{
	local engine depth request

	IFS='|' read -r engine depth request <<<"${jobs[$2]}"
	lab/boot --image "${image[$1]}" --mode insn --append thp_anon=64K:always \
		--add "$fio:/tests/fio" --out "$work/$2.$1.boot" -- /tests/fio --name=cross-check \
		--filename=/dev/nullb0 --rw=read --direct=1 --ioengine="$engine" --iodepth="$depth" \
		--bs="$request" --size=${size_mib}m --mem=mmap --iomem_align=64k --output-format=json >&2 || return
	sed -n '/"read" : {/,/}/s/.*"runtime" : \([0-9]*\),.*/\1/p' "$work/$2.$1.boot/result" |
		head -n 1 >"$work/$2.$1"
}

run_all()
{
	local nr

	for nr in "${!jobs[@]}"; do
		run "$1" "$nr" 2>"$work/$nr.$1.err" || true
	done
}

# figure VARIANT CASE: of bench dio, insn/KiB.
figure()
{
	"tool/pagerun" show "$(lab/bench "${image[$1]}")" | awk -v want="$2" '$2 == want { print $5 }'
}

# agrees NR CASE
agrees()
{
	local v times=() figures=()

	for v in base patched; do
		[ -s "$work/$1.$v" ] || {
			tail -n 5 "$work/$1.$v.err"
			echo "fio did not say how long it ran on the $v kernel"
			return 1
		}
		times+=("$(<"$work/$1.$v")")
		figures+=("$(figure "$v" "$2")")
	done
	awk -v fb="${times[0]}" -v fp="${times[1]}" -v db="${figures[0]}" -v dp="${figures[1]}" \
		-v kib=$((size_mib * 1024)) -v tolerance="$tolerance" '
	BEGIN {
		fb *= 1000000 / kib
		fp *= 1000000 / kib
		printf "fio: %.1f and %.1f insn/KiB, %.2fx; bench dio: %.1f and %.1f, %.2fx\n",
			fb, fp, fb / fp, db, dp, db / dp
		off = (fb - fp) / (db - dp) - 1
		if (off < 0)
			off = -off
		exit !(fb > fp && db > dp && off * 100 <= tolerance)
	}' >"$work/said" || {
		cat "$work/said"
		return 1
	}
	sed 's/^/# /' "$work/said" >&3
}

exec 3>&1
ktap_plan ${#jobs[@]}
run_all base &
run_all patched
wait
for nr in "${!jobs[@]}"; do
	IFS='|' read -r engine _ request <<<"${jobs[nr]}"
	[ "$engine" = psync ] || engine=uring
	ktap "fio agrees with dio/$engine/$request/64k" agrees "$nr" "dio/$engine/$request/64k"
done
ktap_done
