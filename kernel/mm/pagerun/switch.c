// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switches and statistics of pagerun: /sys/kernel/mm/pagerun/ and the boot
 * option pagerun=off.
 */
#define pr_fmt(fmt) "pagerun: " fmt

#include <linux/init.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/mm.h>
#include <linux/sysfs.h>

#include "switch.h"

#define CREATE_TRACE_POINTS
#include <trace/events/pagerun.h>

#define PAGERUN_SWITCH(_name, _built)	\
	{ .name = (_name), .built = (_built), .key = STATIC_KEY_TRUE_INIT }

/* One line a feature. */
struct pagerun_switch pagerun_switches[PAGERUN_NR_FEATURES] = {
	[PAGERUN_PIN] = PAGERUN_SWITCH("pin", IS_ENABLED(CONFIG_PAGERUN_PIN)),
	[PAGERUN_NULLMAP] = PAGERUN_SWITCH("nullmap", IS_ENABLED(CONFIG_PAGERUN_NULLMAP)),
	[PAGERUN_MOVE] = PAGERUN_SWITCH("move", IS_ENABLED(CONFIG_PAGERUN_MOVE)),
	[PAGERUN_MAP] = PAGERUN_SWITCH("map", IS_ENABLED(CONFIG_PAGERUN_MAP)),
	[PAGERUN_UNPIN] = PAGERUN_SWITCH("unpin", IS_ENABLED(CONFIG_PAGERUN_UNPIN)),
	[PAGERUN_REGISTER] = PAGERUN_SWITCH("register", IS_ENABLED(CONFIG_PAGERUN_REGISTER)),
};

DEFINE_PER_CPU(struct pagerun_count[PAGERUN_NR_FEATURES], pagerun_counts);

static ssize_t switch_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	struct pagerun_switch *sw =
		container_of(attr, struct pagerun_switch, attr);

	return sysfs_emit(buf, "%d\n", static_key_enabled(&sw->key));
}

static ssize_t switch_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t len)
{
	struct pagerun_switch *sw =
		container_of(attr, struct pagerun_switch, attr);
	bool on;
	int err;

	err = kstrtobool(buf, &on);
	if (err)
		return err;

	/* Both take the jump label lock and do nothing when it is so already. */
	if (on)
		static_branch_enable(&sw->key);
	else
		static_branch_disable(&sw->key);
	return len;
}

static ssize_t stats_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	ssize_t len = 0;
	int i, cpu;

	for (i = 0; i < PAGERUN_NR_FEATURES; i++) {
		struct pagerun_count sum = { };

		if (!pagerun_switches[i].built)
			continue;

		for_each_possible_cpu(cpu) {
			const struct pagerun_count *count =
				&per_cpu(pagerun_counts, cpu)[i];

			sum.runs += READ_ONCE(count->runs);
			sum.pages += READ_ONCE(count->pages);
			sum.fallbacks += READ_ONCE(count->fallbacks);
		}
		len += sysfs_emit_at(buf, len,
				     "%s runs %lu pages %lu fallbacks %lu\n",
				     pagerun_switches[i].name, sum.runs,
				     sum.pages, sum.fallbacks);
	}
	return len;
}

static struct kobj_attribute stats_attr = __ATTR_RO(stats);

/*
 * Runs while the boot parameters are parsed, which start_kernel() does after
 * jump_label_init(); the sysfs files come later.
 */
static int __init pagerun_setup(char *str)
{
	bool on;
	int i;

	if (kstrtobool(str, &on)) {
		pr_warn("pagerun=%s is neither on nor off, ignored\n", str);
		return 1;
	}
	if (!on) {
		for (i = 0; i < PAGERUN_NR_FEATURES; i++)
			static_branch_disable(&pagerun_switches[i].key);
	}
	return 1;
}
__setup("pagerun=", pagerun_setup);

static int __init pagerun_init(void)
{
	struct kobject *dir;
	int i, err;

	dir = kobject_create_and_add("pagerun", mm_kobj);
	if (!dir) {
		pr_err("no switches: no memory for /sys/kernel/mm/pagerun\n");
		return -ENOMEM;
	}

	for (i = 0; i < PAGERUN_NR_FEATURES; i++) {
		struct pagerun_switch *sw = &pagerun_switches[i];

		if (!sw->built)
			continue;

		sysfs_attr_init(&sw->attr.attr);
		sw->attr.attr.name = sw->name;
		sw->attr.attr.mode = 0644;
		sw->attr.show = switch_show;
		sw->attr.store = switch_store;
		err = sysfs_create_file(dir, &sw->attr.attr);
		if (err)
			goto fail;
	}

	err = sysfs_create_file(dir, &stats_attr.attr);
	if (!err)
		return 0;
fail:
	/* Takes the files with it. The features go on as they were booted. */
	kobject_put(dir);
	pr_err("no switches: cannot create sysfs files (%d)\n", err);
	return err;
}
subsys_initcall(pagerun_init);
