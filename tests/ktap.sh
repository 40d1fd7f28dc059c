# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# KTAP for the tests that are scripts. To be sourced.

ktap_nr=0
ktap_failed=0

ktap_plan()
{
	printf 'KTAP version 1\n1..%d\n' "$1"
}

# ktap NAME COMMAND...: a test that passes if the command does; what the command
# says is shown if it does not.
ktap()
{
	local name=$1 said

	shift
	ktap_nr=$((ktap_nr + 1))
	if said=$("$@" 2>&1); then
		echo "ok $ktap_nr - $name"
	else
		tail -n 40 <<<"$said" | sed 's/^/# /'
		echo "not ok $ktap_nr - $name"
		ktap_failed=1
	fi
}

ktap_skip()
{
	ktap_nr=$((ktap_nr + 1))
	echo "ok $ktap_nr # SKIP $1"
}

ktap_done()
{
	exit $ktap_failed
}
