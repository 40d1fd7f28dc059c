#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: tests/lab/vma.sh
#
# Other people's tests: tools/testing/vma of the same source, which compiles
# mm/vma.c as a program of user space, builds and passes with the hooks as
# without them, with the same tests.
#
# 6.12.117 itself forgot to give that program vma_close(), which its mm/vma.c came
# to call in a stable release. Where it is missing, both trees get it here.

set -euo pipefail
. "$(dirname "$0")/../../lab/common.sh"
. "$top/tests/ktap.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/pagerun-vma.XXXXXX")
trap 'rm -rf "$work"' EXIT
source=$("$top/lab/source")

# grow DIR: a tree in which mm/ and tools/testing/ are copies, to be patched and
# built in; all else is the source's.
grow()
{
	local tree=$source/tree

	mkdir -p "$1/tools/testing"
	ln -s "$tree"/* "$1" 2>/dev/null || true
	rm "$1/mm"
	ln -s "$tree"/tools/* "$1/tools" 2>/dev/null || true
	cp -r "$tree/mm" "$1"
	cp -r "$tree"/tools/testing/{vma,shared,radix-tree} "$1/tools/testing"
}

# lend_vma_close DIR: what mm/internal.h has, to who includes vma_internal.h.
lend_vma_close()
{
	local header=$1/tools/testing/vma/vma_internal.h

	grep -q 'vma_close(' "$1/mm/vma.c" && ! grep -q 'vma_close(' "$header" || return 0
	cat >>"$header" <<-'END'

		#ifndef LENT_VMA_CLOSE
		#define LENT_VMA_CLOSE
		static inline void vma_close(struct vm_area_struct *vma)
		{
			if (vma->vm_ops && vma->vm_ops->close)
				vma->vm_ops->close(vma);
		}
		#endif
	END
}

# passes KERNEL: the program builds in the tree of that name, runs and fails nothing.
passes()
{
	local dir=$work/$1/tools/testing/vma

	make -s -C "$dir" && (cd "$dir" && ./vma) >"$work/$1.out"
	cat "$work/$1.out"
	grep -q '[1-9][0-9]* passed, 0 failed' "$work/$1.out"
}

grow "$work/base"
grow "$work/patched"
mkdir "$work/staged"
stage "$source/tree" "$work/staged"
cp -r "$work/staged/mm" "$work/patched"
cp -r "$work/staged/tools" "$work/patched"

lend_vma_close "$work/base"
lend_vma_close "$work/patched"

ktap_plan 3
ktap "tools/testing/vma passes on the base" passes base
ktap "tools/testing/vma passes with the hooks" passes patched
ktap "the same tests pass on both" diff "$work/base.out" "$work/patched.out"
ktap_done
