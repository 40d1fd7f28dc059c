/* SPDX-License-Identifier: GPL-2.0-only */
/* The virtio-serial ports of the lab's guest. */
#ifndef PORTS_H
#define PORTS_H

/**
 * port_open() - open a port for writing by the name that the host gave it
 *
 * Waits some seconds for it to appear. What is written has reached the host
 * when write() returns.
 * Return: a file descriptor, or -1 with errno; ENODEV: no such port came.
 */
int port_open(const char *name);

#endif /* PORTS_H */
