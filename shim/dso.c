/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library is linked without the compiler's start files, whose frame_dummy would be a
 * constructor in every process. What they define besides: the identity that atexit and
 * pthread_atfork hand to libc for a library.
 */
extern void *const __dso_handle __attribute__((visibility("hidden")));
void *const __dso_handle = (void *)&__dso_handle;
