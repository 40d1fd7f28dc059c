// SPDX-License-Identifier: GPL-2.0-only
/* A UIO device over physical memory, for as long as a file is open. */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio_driver.h>

#include "internal.h"
#include "pagerun_test.h"

#if IS_REACHABLE(CONFIG_UIO)

struct test_uio {
	struct uio_info info;
};

/**
 * test_uio() - PAGERUN_TEST_UIO
 * @uio: the device of the file, NULL if it has none; the file's lock is held
 * @parent: the device that it belongs to
 * @uarg: struct pagerun_test_uio of the caller
 *
 * Return: 0 or a negative errno, see pagerun_test.h.
 */
long test_uio(struct test_uio **uio, struct device *parent, void __user *uarg)
{
	struct pagerun_test_uio want;
	struct test_uio *made;
	int err;

	if (copy_from_user(&want, uarg, sizeof(want)))
		return -EFAULT;
	if (want.reserved || ((want.phys | want.size) & ~PAGE_MASK) ||
	    want.size <= PAGE_SIZE || !test_phys_fits(want.phys, want.size))
		return -EINVAL;
	if (*uio)
		return -EBUSY;
	made = kzalloc(sizeof(*made), GFP_KERNEL);
	if (!made)
		return -ENOMEM;

	made->info.name = "pagerun_test";
	made->info.version = "1";
	made->info.irq = UIO_IRQ_NONE;
	made->info.mem[0] = (struct uio_mem){
		.name = "all", .addr = want.phys, .size = want.size, .memtype = UIO_MEM_PHYS,
	};
	made->info.mem[1] = (struct uio_mem){
		.name = "rest", .addr = want.phys + PAGE_SIZE, .size = want.size - PAGE_SIZE,
		.memtype = UIO_MEM_PHYS,
	};
	err = uio_register_device(parent, &made->info);
	if (err) {
		kfree(made);
		return err;
	}
	want.minor = made->info.uio_dev->minor;
	if (copy_to_user(uarg, &want, sizeof(want))) {
		test_uio_free(made);
		return -EFAULT;
	}
	*uio = made;
	return 0;
}

/**
 * test_uio_free() - take a UIO device away
 * @uio: the device, or NULL
 *
 * Who has it open finds out at the next call; mappings stay.
 */
void test_uio_free(struct test_uio *uio)
{
	if (!uio)
		return;
	uio_unregister_device(&uio->info);
	kfree(uio);
}

#else

long test_uio(struct test_uio **uio, struct device *parent, void __user *uarg)
{
	return -EOPNOTSUPP;
}

void test_uio_free(struct test_uio *uio)
{
}

#endif
