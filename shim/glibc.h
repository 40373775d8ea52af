/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included before everything else (-include), so that a library built on a new system loads on an
 * old one: what glibc 2.34 moved into libc, or gave a new version for some other reason, is bound
 * to the version it had before. tools/check_library.sh says what is above the ceiling.
 */
#if !defined(AF_SHIM_GLIBC_H) && !defined(__ASSEMBLER__) && defined(__x86_64__)
#define AF_SHIM_GLIBC_H

#include <features.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__cplusplus)
/* glibc 2.38 renames strtol and its kin for C23's binary literals, which nobody here wants. */
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0

#define AF_PIN(name, version) __asm__(".symver " #name "," #name "@GLIBC_" #version)
AF_PIN(pthread_create, 2.2.5);
AF_PIN(pthread_detach, 2.2.5);
AF_PIN(pthread_join, 2.2.5);
AF_PIN(pthread_once, 2.2.5);
AF_PIN(pthread_key_create, 2.2.5);
AF_PIN(pthread_setspecific, 2.2.5);
AF_PIN(pthread_sigmask, 2.2.5);
AF_PIN(pthread_setname_np, 2.12);
AF_PIN(pthread_mutex_trylock, 2.2.5);
AF_PIN(pthread_mutex_timedlock, 2.2.5);
AF_PIN(pthread_rwlock_rdlock, 2.2.5);
AF_PIN(pthread_rwlock_wrlock, 2.2.5);
AF_PIN(pthread_rwlock_unlock, 2.2.5);
AF_PIN(pthread_kill, 2.2.5);
AF_PIN(dladdr, 2.2.5);
AF_PIN(sem_init, 2.2.5);
AF_PIN(sem_post, 2.2.5);
AF_PIN(sem_wait, 2.2.5);
AF_PIN(sem_timedwait, 2.2.5);

/* 2.33 made these functions of their own; before, they were inline calls of these. */
int __fxstat(int version, int fd, struct stat *st);
int __xstat(int version, const char *path, struct stat *st);
int __lxstat(int version, const char *path, struct stat *st);
int __fxstatat(int version, int dir, const char *path, struct stat *st, int flags);
#if __GLIBC_PREREQ(2, 33)
AF_PIN(__fxstat, 2.2.5);
AF_PIN(__xstat, 2.2.5);
AF_PIN(__lxstat, 2.2.5);
AF_PIN(__fxstatat, 2.4);
#define fstat(fd, st) __fxstat(1, fd, st)
#define stat(path, st) __xstat(1, path, st)
#define lstat(path, st) __lxstat(1, path, st)
#define fstatat(dir, path, st, flags) __fxstatat(1, dir, path, st, flags)
#endif
#define gettid() ((int)syscall(SYS_gettid)) /* a function since 2.30 */
#endif

#endif
