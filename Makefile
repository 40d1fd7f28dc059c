# SPDX-License-Identifier: GPL-2.0-only
# Thin on purpose: the work is in lab/, tool/, driver/ and tests/.

help: ## lists these targets
	@sed -n 's/^\([a-z]*\): .*## \(.*\)/make \1\t\2/p' Makefile | expand -t 16

compare: ## base and patched kernel side by side: the table and out/compare.json
	@lab/compare

bench: ## the patched kernel alone
	@lab/deps
	@rows=$$(lab/bench "$$(lab/kernel patched)") && tool/pagerun show "$$rows"

test: ## all tests; the last line says how many passed
	@lab/deps
	@$(MAKE) -s -C tool
	@$(MAKE) -s -C tool SAN=1
	@$(MAKE) -s -C tests
	@out/tests/runner --timeout 1800 --table tests/table

series: ## the patches for git am on a 6.12 tree of your own, in out/series/
	@lab/series

check: ## static checks alone: shellcheck, checkpatch, sparse, gcc's W=1
	@tests/lab/scripts.sh
	@tests/lab/series.sh

clean: ## removes what was built here; the cache stays
	@$(MAKE) -s -C tool clean
	@rm -rf out

.PHONY: help compare bench test series check clean
