/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel names as people read them. */
#ifndef AF_TOOLS_NAMES_H
#define AF_TOOLS_NAMES_H

/*
 * The kernel of a mangled name: demangled (by the C++ library, if this machine has one; else the
 * name stays as it is), without return type, parameters and namespaces, element types by their
 * short names; PyTorch's elementwise and reduction templates by the functor they apply ("aten
 * add<bf16>"). No control characters. Malloc'ed; NULL if out of memory.
 */
char *name_readable(const char *mangled);

/* The demangled name alone, malloc'ed, or NULL. */
char *name_demangled(const char *mangled);

#endif
