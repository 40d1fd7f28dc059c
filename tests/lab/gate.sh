#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The figures of the insn clock: each meets its target (tests/targets*.json),
# none is more than 1 % worse than the committed one (tests/figures.json), and
# the table in README.md is the one that make compare prints.

set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/ktap.sh

work=$(mktemp -d "${TMPDIR:-/tmp}/pagerun-gate.XXXXXX")
trap 'rm -rf "$work"' EXIT

compare()
{
	local code=0

	lab/compare >"$work/compare" || code=$?
	sed 's/^/# /' "$work/compare" >&3
	return "$code"
}

same_table()
{
	diff "$work/readme" "$work/table"
}

exec 3>&1
ktap_plan 2
ktap "make compare: targets and committed figures" compare
# The first table, which an empty line ends.
sed '/^$/,$d' "$work/compare" >"$work/table"
awk '/^<!-- make compare -->$/ { here = 1; next }
	here && /^```$/ { if (inside) exit; inside = 1; next }
	inside' README.md >"$work/readme"
if [ "$(head -n 1 "$work/readme")" = "$(head -n 1 "$work/table")" ]; then
	ktap "README.md shows this table" same_table
else
	ktap_skip "README.md shows the table of another package or compiler; put this one there, from make compare"
fi
ktap_done
