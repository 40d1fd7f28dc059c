#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The figures of the insn clock: each meets its target (tests/targets*.json) and
# none is more than 1 % worse than the committed one (tests/figures.json).

set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/ktap.sh

compare()
{
	lab/compare | sed 's/^/# /' >&3
}

exec 3>&1
ktap_plan 1
ktap "make compare: targets and committed figures" compare
ktap_done
