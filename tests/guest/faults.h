/* SPDX-License-Identifier: GPL-2.0-only */
/* Allocations of this thread failing, for whoever sweeps over those of a call. */
#ifndef FAULTS_H
#define FAULTS_H

/* Where a sweep gives up. */
#define FAULTS_MAX_NTH 400

/* Why no allocation can be made to fail here, or NULL. */
const char *no_faults(void);
/* Let allocations that may wait fail as well, and those of one page; quietly. */
void faults_begin(void);
/* Those of this thread, from here on. */
void faults_open(void);
/* Let the @nth allocation from here on fail; 0: none. */
void faults_set(unsigned int nth);
/* How many are left until that; 0: it came to it, and one failed. */
unsigned int faults_left(void);

#endif /* FAULTS_H */
