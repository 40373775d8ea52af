/* SPDX-License-Identifier: Apache-2.0 */
/* Fibers: stacks that one operating system thread switches between. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_FIBER_H
#define AF_TESTS_SOFTGPU_DRIVER_FIBER_H

#include <stddef.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

/*
 * One stack. A fiber is free (in the pool), parked (switched away from) or running. Only the
 * operating system thread that took it from the pool may switch to it.
 */
struct fiber {
	struct fiber *next, *next_owned; /* the owner's lists */
	char *stack;                     /* lowest usable byte; NULL for the thread's own stack */
	size_t bytes;
	unsigned colour; /* which cache line its first frame starts at */
	void *fake;      /* the address sanitizer's shadow of a parked stack */
#if defined(__x86_64__)
	void *sp;
#else
	ucontext_t context;
#endif
};

/* A fiber that will call body() when first switched to; body must not return. NULL if out of
 * memory. fiber_put takes it back, whatever it was doing. */
struct fiber *fiber_get(void (*body)());
void fiber_put(struct fiber *f);

/* Parks `from`, which must be the running one, and runs `to` until something switches back. */
void fiber_switch(struct fiber *from, struct fiber *to);

#endif
