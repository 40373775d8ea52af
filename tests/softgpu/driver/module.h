/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules, libraries and the functions in them. An image is only looked at to see that it is one;
 * its kernels and variables are those that companions registered under the names asked for. A
 * variable exists once per process, not once per module: the companion's own.
 */
#ifndef AF_TESTS_SOFTGPU_DRIVER_MODULE_H
#define AF_TESTS_SOFTGPU_DRIVER_MODULE_H

#include <string>
#include "tests/softgpu/driver/context.h"
#include "tests/softgpu/engine.h"

/* What cuFuncSetAttribute and its kin change. */
struct function_attributes {
	int dynamic_shared = -1; /* -1: not set, see attributes_dynamic */
	int carveout = -1;
	int cluster[4] = {}; /* must be set, x, y, z */
	int nonportable_cluster = 0;
};

/* Dynamic shared memory that a launch may ask for: static memory counts, too. */
static inline int attributes_dynamic(const struct function_attributes *a,
				     const struct softgpu_kernel *k)
{
	return a->dynamic_shared >= 0 ? a->dynamic_shared
				      : SOFTGPU_SHARED_DEFAULT - static_cast<int>(k->shared_bytes);
}

struct module {
	static const enum object_kind KIND = OBJECT_MODULE;
	struct context *ctx;
	struct library *library;        /* whose module it is, or NULL */
	std::vector<std::string> names; /* kernels that the image seems to hold, for enumeration */
	std::map<std::string, struct function *> functions; /* handed out so far */
};

struct function {
	static const enum object_kind KIND = OBJECT_FUNCTION;
	struct module *module;
	const struct softgpu_kernel *kernel;
	struct kernel *from; /* the CUkernel it belongs to, or NULL */
	struct function_attributes attributes;
};

struct library {
	static const enum object_kind KIND = OBJECT_LIBRARY;
	std::vector<std::string> names;
	std::map<std::string, struct kernel *> kernels;
	std::map<struct context *, struct module *> modules; /* one per context that asked */
};

struct kernel {
	static const enum object_kind KIND = OBJECT_KERNEL;
	struct library *library;
	const struct softgpu_kernel *kernel;
	std::map<int, struct function_attributes> attributes; /* per device */
};

void module_delete(struct module *m);
void library_forget_context(struct context *ctx);
/* Names of kernels in the image; CUDA_ERROR_INVALID_IMAGE if it is none. Fails for no other reason.
 */
CUresult image_look(const void *image, std::vector<std::string> *names);
/* Reads a file that holds an image; the caller frees. NULL if it cannot be read. */
char *image_read(const char *path);

/* A library's module in a context, made on first use. */
struct module *library_module(struct library *l, struct context *ctx);
/* The function of a library's kernel in a context, made on first use. */
struct function *kernel_function(struct kernel *k, struct context *ctx);

/* A registered variable, as memory of the context. CUDA_ERROR_NOT_FOUND if there is none. */
CUresult variable_find(CUdeviceptr *out, size_t *bytes, const char *name, struct context *ctx);

#endif
