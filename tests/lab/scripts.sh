#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each script passes shellcheck.

set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/ktap.sh

mapfile -t scripts < <(grep -lE '^#!/bin/bash|^# shellcheck shell=bash' .ci/run lab/* tests/*.sh tests/lab/*.sh 2>/dev/null)
ktap_plan ${#scripts[@]}
for script in "${scripts[@]}"; do
	ktap "shellcheck $script" shellcheck "$script"
done
ktap_done
