#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The driver builds, without a warning, against the headers of each kernel that
# it is for.

set -euo pipefail
. "$(dirname "$0")/../../lab/common.sh"
. "$top/tests/ktap.sh"
kbuild_environment

work=$(mktemp -d "${TMPDIR:-/tmp}/pagerun-driver.XXXXXX")
trap 'rm -rf "$work"' EXIT

# build VERSION [SETTING...]
build()
{
	local kdir

	kdir=$("$top/lab/headers" "$1") || return 1
	mkdir "$work/$1"
	cp "$top"/driver/{Kbuild,Makefile,*.[ch]} "$work/$1"
	make -C "$work/$1" KDIR="$kdir" W=1 KCFLAGS=-Werror "${@:2}" && [ -f "$work/$1/pagerun_test.ko" ]
}

ktap_plan 3
ktap "driver for 6.1" build 6.1
ktap "driver for 6.12" build 6.12
ktap "driver for 7.3" build 7.3 KBUILD_MODPOST_WARN=1
ktap_done
