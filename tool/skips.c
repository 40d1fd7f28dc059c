// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pagerun.h"
#include "skips.h"

static int no_memory(void)
{
	warnx("out of memory");
	return PR_FAIL;
}

static int append(struct skips *skips, size_t i, const char *name)
{
	char *cases;

	if (asprintf(&cases, "%s, %s", skips->items[i].cases, name) < 0)
		return no_memory();
	free(skips->items[i].cases);
	skips->items[i].cases = cases;
	return PR_OK;
}

int skips_add(struct skips *skips, const char *name, const char *reason)
{
	void *items;
	size_t i;

	for (i = 0; i < skips->nr; i++)
		if (!strcmp(skips->items[i].reason, reason))
			return append(skips, i, name);

	items = reallocarray(skips->items, skips->nr + 1, sizeof(*skips->items));
	if (!items)
		return no_memory();
	skips->items = items;
	skips->items[skips->nr].cases = strdup(name);
	skips->items[skips->nr].reason = strdup(reason);
	skips->nr++;
	if (!skips->items[skips->nr - 1].cases ||
	    !skips->items[skips->nr - 1].reason)
		return no_memory();
	return PR_OK;
}

void skips_print(const struct skips *skips)
{
	size_t i;

	for (i = 0; i < skips->nr; i++)
		warnx("SKIP %s: %s", skips->items[i].cases,
		      skips->items[i].reason);
}

void skips_free(struct skips *skips)
{
	size_t i;

	for (i = 0; i < skips->nr; i++) {
		free(skips->items[i].cases);
		free(skips->items[i].reason);
	}
	free(skips->items);
	skips->items = NULL;
	skips->nr = 0;
}
