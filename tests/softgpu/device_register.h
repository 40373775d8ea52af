/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a companion library says what it holds. nvcc and g++ mangle alike; the assembler is asked for
 * the symbol's name, which works for hidden and static functions and for template instances, and
 * needs companions to be built with -fvisibility=hidden (else the name is not a link-time
 * constant). nvcc spells a static kernel without the L that g++ puts before its name. Part of
 * device.h.
 */
#ifndef AF_TESTS_SOFTGPU_DEVICE_REGISTER_H
#define AF_TESTS_SOFTGPU_DEVICE_REGISTER_H

#include <utility>
#include "tests/softgpu/device_thread.h"

extern "C" {
/* One block's dynamic shared memory; SOFTGPU_DYNAMIC_SHARED gives it its names in the kernels. */
extern thread_local char softgpu_dynamic[];
}
#define SOFTGPU_TEXT(...) SOFTGPU_TEXT_(__VA_ARGS__)
#define SOFTGPU_TEXT_(...) #__VA_ARGS__
#define SOFTGPU_PASTE(a, b) SOFTGPU_PASTE_(a, b)
#define SOFTGPU_PASTE_(a, b) a##b

namespace softgpu
{
template <auto *Symbol> const char *symbol_name()
{
	const char *name;

#if defined(__x86_64__)
	asm(".pushsection .rodata.softgpu,\"a\",@progbits\n"
	    "771: .asciz \"%c1\"\n"
	    ".popsection\n"
	    "leaq 771b(%%rip), %0"
	    : "=r"(name)
	    : "i"(Symbol));
#elif defined(__aarch64__)
	asm(".pushsection .rodata.softgpu,\"a\",@progbits\n"
	    "771: .asciz \"%c1\"\n"
	    ".popsection\n"
	    "adrp %0, 771b\n"
	    "add %0, %0, :lo12:771b"
	    : "=r"(name)
	    : "i"(Symbol));
#else
#error "no way to ask for a symbol's name on this architecture"
#endif
	return name;
}

/* "_ZL3addPf" is "_Z3addPf" to nvcc. */
inline const char *kernel_name(const char *mangled)
{
	if (strncmp(mangled, "_ZL", 3) != 0)
		return mangled;
	size_t bytes = strlen(mangled);
	char *name = static_cast<char *>(malloc(bytes));
	if (name) {
		memcpy(name, "_Z", 2);
		memcpy(name + 2, mangled + 3, bytes - 2);
	}
	return name;
}

inline void *dynamic_shared()
{
	return softgpu_dynamic;
}

template <auto *Kernel> struct entry;
template <class... Args, void (*Kernel)(Args...)> struct entry<Kernel> {
	template <size_t... I> static void call(void *const *params, std::index_sequence<I...>)
	{
		Kernel(*static_cast<std::remove_cv_t<Args> *>(params[I])...);
	}
	static void run(void *const *params)
	{
		call(params, std::index_sequence_for<Args...>());
	}

	/* Parameters follow each other as members of a struct would. */
	static const softgpu_param *layout()
	{
		static softgpu_param param[sizeof...(Args) + 1];
		const uint32_t bytes[] = {static_cast<uint32_t>(sizeof(Args))..., 0};
		const uint32_t align[] = {static_cast<uint32_t>(alignof(Args))..., 1};
		uint32_t end = 0;

		for (size_t i = 0; i < sizeof...(Args); i++) {
			end = (end + align[i] - 1) / align[i] * align[i];
			param[i] = {end, bytes[i]};
			end += bytes[i];
		}
		return param;
	}

	entry(unsigned shared_bytes = 0, unsigned max_threads = SOFTGPU_MAX_THREADS)
	{
		static const softgpu_kernel k = {kernel_name(symbol_name<Kernel>()),
						 run,
						 layout(),
						 sizeof...(Args),
						 shared_bytes,
						 max_threads,
						 dynamic_shared};
		softgpu_register_kernel(&k);
	}
};

template <auto *Variable> struct variable_entry {
	variable_entry()
	{
		static const softgpu_variable v = {
			symbol_name<Variable>(),
			const_cast<void *>(static_cast<const void *>(Variable)), sizeof(*Variable)};
		softgpu_register_variable(&v);
	}
};
} // namespace softgpu

/* SOFTGPU_KERNEL(kernel): a __global__ function, or a template instance with its arguments. */
#define SOFTGPU_KERNEL(...)                                                                        \
	static softgpu::entry<(__VA_ARGS__)> SOFTGPU_PASTE(softgpu_entry_, __COUNTER__);
/* The same with what the driver reports of it: static shared bytes, __launch_bounds__. */
#define SOFTGPU_KERNEL_ATTRIBUTES(shared_bytes, max_threads, ...)                                  \
	static softgpu::entry<(__VA_ARGS__)> SOFTGPU_PASTE(softgpu_entry_, __COUNTER__)(           \
		shared_bytes, max_threads);
#define SOFTGPU_VARIABLE(...)                                                                      \
	static softgpu::variable_entry<&__VA_ARGS__> SOFTGPU_PASTE(softgpu_entry_, __COUNTER__);

/*
 * SOFTGPU_DYNAMIC_SHARED(name): kernels of this file declare extern __shared__ T name[]. All names
 * are the same memory, as on the device. In a namespace, give the mangled name.
 */
#define SOFTGPU_DYNAMIC_SHARED(name)                                                               \
	asm(".globl " SOFTGPU_TEXT(                                                                \
		name) "\n"                                                                         \
		      ".hidden " SOFTGPU_TEXT(                                                     \
			      name) "\n"                                                           \
				    ".type " SOFTGPU_TEXT(                                         \
					    name) ", @tls_object\n"                                \
						  ".set " SOFTGPU_TEXT(name) ", softgpu_dynamic");

/* One file per companion defines the memory; every companion is one file. */
thread_local char softgpu_dynamic[SOFTGPU_SHARED_MAX] __attribute__((aligned(1024)));

#endif
