#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: tests/lab/selftests.sh [BASE PATCHED]
#
# Other people's tests: the kernel's own mm selftests that pin, move or split give
# the same on the base and on the patched kernel, test by test: passed, failed,
# skipped, and why. Tests that fail or skip on both are listed, not hidden. What
# the patched kernel's statistics say afterwards shows that it took its own path.
#
# They run by the insn clock, so that what one gives depends on nothing but what
# is booted, and lab/selftest keeps it: a kernel that did not change is not run
# again. The two kernels run side by side.
#
# BASE and PATCHED are image folders to take instead of lab/kernel's.

set -euo pipefail
. "$(dirname "$0")/../../lab/common.sh"
. "$top/tests/ktap.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/pagerun-selftests.XXXXXX")
trap 'rm -rf "$work"' EXIT

# As run_gup_matrix of their run_vmtests.sh, on less memory, since an emulator is
# slow (4 MiB hold an aligned page of 2 MiB wherever they are mapped); and threads.
# Without gup_test -z: its FOLL_TOUCH is the 0x02 of older kernels, which is
# FOLL_GET now, and whoever pins with that gets a warning from every kernel.
gup_matrix()
{
	local huge call write share number

	for huge in "$@"; do
		for call in -u -U -a -b -L; do
			for write in -w -W; do
				for share in ' -S' ''; do
					for number in 1 512 123; do
						echo "-m 4 $huge $call $write$share -n $number"
					done
				done
			done
			echo "-m 4 $huge $call -j 4 -n 123"
		done
	done
}

# The whole matrix, and what that script does by default.
gup_matrix -t -T -H >"$work/matrix"
printf '%s\n' -u -a '-ct -F 0x1 0 19 0x1000' '-ctp -F 0x1 0 19 0x1000' >>"$work/matrix"
gup_matrix -t >"$work/matrix-64k"

# NAME|options of lab/selftest|program[|feature, and how many pages, on average, the
# patched kernel must have taken by it in a run].
stats=/sys/kernel/mm/pagerun/stats
programs=(
	'cow||cow'
	'gup_longterm||gup_longterm'
	"gup_test|--each $work/matrix|gup_test"
	"gup_test, folios of 64 KiB|--append thp_anon=64K:madvise --each $work/matrix-64k|gup_test"
	"uffd-unit-tests|--show $stats|uffd-unit-tests|move 512"
	'mremap_test||mremap_test'
	'split_huge_page_test||split_huge_page_test'
	'mincore_selftest||mincore_selftest'
	"uffd-unit-tests, no huge pages|--show $stats --append transparent_hugepage=never|uffd-unit-tests|move 512"
)

# run_all VARIANT IMAGE: into files NR.VARIANT.{out,err,code}.
run_all()
{
	local nr options program code

	for nr in "${!programs[@]}"; do
		IFS='|' read -r _ options program _ <<<"${programs[nr]}"
		code=0
		# shellcheck disable=SC2086 # options are words
		nice "$top/lab/selftest" --mode insn $options "$2" "$program" \
			>"$work/$nr.$1.out" 2>"$work/$nr.$1.err" || code=$?
		echo "$code" >"$work/$nr.$1.code"
	done
}

# outcomes FILE: a line "TEST<tab>OUTCOME" for each test. A test's name is the
# run, the section that the program announced, and its number in that. The
# outcome has the program's own words, and what it noted on the way that matters.
# Most write TAP; uffd-unit-tests a line "Testing NAME on MEMORY... OUTCOME" each.
outcomes()
{
	awk '
	function note(test, outcome) { print run ": " test "\t" outcome }
	/^# selftest: run: / { run = substr($0, 18); section = ""; plan = -1; n = 0; cut = ""; delete seen; next }
	/^# \[RUN\] / { section = substr($0, 9); next }
	/^1\.\.[0-9]+/ { plan = substr($1, 4) + 0; if (!plan) note("all of it", "skip: " $0); next }
	/runcated \(size/ { cut = " (" substr($0, index($0, "runcated") - 1) ")"; next }
	/^(not )?ok [0-9]+/ {
		n++
		outcome = /^not/ ? "fail" : "pass"
		text = $0
		sub(/^(not )?ok [0-9]+ ?(- )?/, "", text)
		if (text ~ /# *SKIP/) outcome = "skip"
		if (text ~ /# *XFAIL/) outcome = "xfail"
		sub(/# *(SKIP|XFAIL) */, "", text)
		name = section == "" ? "test" : section
		if (++seen[name] > 1 || section == "") name = name " " seen[name]
		note(name, outcome ": " text cut)
		cut = ""
		next
	}
	/^Testing .*\.\.\. / {
		n++
		at = index($0, "... ")
		text = substr($0, at + 4)
		outcome = text == "done" ? "pass" : text ~ /^skipped \[/ ? "skip" : text ~ /^failed \[/ ? "fail" : "broken"
		if (gsub(/^[a-z]+ \[reason: |\]$/, "", text) || outcome == "broken") outcome = outcome ": " text
		else outcome = outcome ": "
		note(substr($0, 9, at - 9), outcome)
		next
	}
	/^Userfaults unit tests: .*\(total=[0-9]+\)$/ { plan = substr($0, index($0, "(total=") + 7) + 0; next }
	/^# selftest: ended / {
		if (plan < 0) note("its plan", "broken: none")
		else if (n != plan) note("its plan", "broken: " plan " tests, " n " given")
		note("its end", (/ with [0-4]$/ ? "end: " : "broken: ") substr($0, 13))
		ended = 1
	}
	END { if (!ended) print "its end\tbroken: none" }
	' "$1"
}

# counts FILE: of its outcomes, as text.
counts()
{
	local word

	for word in pass fail xfail skip; do
		printf '%s %d, ' $word "$(grep -c "	$word: " "$1")"
	done | sed 's/, $//'
}

# listed FILE: failed tests by name, the others that did not pass by reason.
listed()
{
	sed -n 's/\t\(fail: .*\)/: \1/p' "$1"
	sed -nE 's/.*\t((xfail|skip): .*)/\1/p' "$1" | LC_ALL=C sort | uniq -c |
		sed -E 's/^ *([0-9]+) ([a-z]+): /\2, \1 of them: /'
}

# same NR: all that is wrong is told.
same()
{
	local nr=$1 v wrong=0

	for v in base patched; do
		if [ "$(cat "$work/$nr.$v.code")" -eq 125 ] || [ ! -s "$work/$nr.$v.out" ]; then
			tail -n 4 "$work/$nr.$v.err"
			echo "on the $v kernel: ended with $(cat "$work/$nr.$v.code")"
			wrong=1
		fi
		! grep $'\tbroken: ' "$work/$nr.$v" | sed "s/^/on the $v kernel: /" | head -n 10 | grep . || wrong=1
	done
	awk -F '\t' '
	NR == FNR { base[$1] = $2; next }
	!($1 in base) { print $1 ": only on the patched kernel: " $2; wrong = 1; next }
	base[$1] != $2 { print $1 ": base " base[$1] " | patched " $2; wrong = 1 }
	{ delete base[$1] }
	END { for (test in base) { print test ": only on the base kernel: " base[test]; wrong = 1 } exit wrong }
	' "$work/$nr.base" "$work/$nr.patched" | head -n 20 || wrong=1
	return "$wrong"
}

# by_the_run NR FEATURE MIN: what the statistics say of the patched kernel.
by_the_run()
{
	grep -h "^# selftest: shows $stats: " "$work/$1.patched.out"
	awk -v feature="$2" -v min="$3" '
	$5 == feature && $7 > 0 && $9 >= min * $7 { found = 1 }
	END { exit !found }
	' "$work/$1.patched.out"
}

case $# in
0) base=$("$top/lab/kernel" base) patched=$("$top/lab/kernel" patched) ;;
2) base=$1 patched=$2 ;;
*) usage ;;
esac

ktap_plan $((${#programs[@]} + $(printf '%s\n' "${programs[@]}" | grep -c '|.*|.*|')))
run_all base "$base" &
run_all patched "$patched"
wait
for nr in "${!programs[@]}"; do
	IFS='|' read -r name _ _ taken <<<"${programs[nr]}"
	for variant in base patched; do
		outcomes "$work/$nr.$variant.out" >"$work/$nr.$variant"
		echo "# $name on $variant: $(counts "$work/$nr.$variant")"
		listed "$work/$nr.$variant" | sed 's/^/#   /'
	done
	ktap "$name: each test ends alike on both kernels" same "$nr"
	# shellcheck disable=SC2086 # words
	[ -z "$taken" ] || ktap "$name: runs of at least ${taken#* } pages by ${taken% *}" by_the_run "$nr" $taken
done
ktap_done
