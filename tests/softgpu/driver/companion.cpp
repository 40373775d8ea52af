/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <limits.h>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "tests/softgpu/driver/registry.h"

namespace
{
/* Companions are compiled for fused multiply-add: see rules.mk. */
bool processor_fits()
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx");
#else
	return true;
#endif
}

void load(const std::string &path, bool named, std::string *loaded)
{
	if (!named && access(path.c_str(), R_OK) != 0)
		return;
	if ((":" + *loaded + ":").find(":" + path + ":") != std::string::npos)
		return;
	if (!processor_fits()) {
		fprintf(stderr, "softgpu: %s needs a processor with FMA\n", path.c_str());
		return;
	}
	if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
		fprintf(stderr, "softgpu: %s\n", dlerror());
		return;
	}
	*loaded += (loaded->empty() ? "" : ":") + path;
}

void load_all()
{
	const char *named = getenv("SOFTGPU_KERNELS");
	std::string list = named ? named : "", loaded;
	char exe[PATH_MAX];
	Dl_info own;

	for (size_t at = 0; at < list.size();) {
		size_t end = list.find(':', at);
		std::string path = list.substr(at, end == std::string::npos ? end : end - at);

		if (!path.empty())
			load(path, true, &loaded);
		at = end == std::string::npos ? list.size() : end + 1;
	}
	ssize_t bytes = readlink("/proc/self/exe", exe, sizeof(exe));
	if (bytes > 0)
		load(std::string(exe, static_cast<size_t>(bytes)) + ".softgpu.so", false, &loaded);
	if (dladdr(reinterpret_cast<void *>(load_all), &own) && realpath(own.dli_fname, exe)) {
		std::string here = exe;
		std::string directory = here.substr(0, here.rfind('/'));
		std::string above = directory.substr(0, directory.rfind('/'));

		load(above + "/libautofuse.softgpu.so", false, &loaded);
	}
	if (!loaded.empty())
		setenv("SOFTGPU_KERNELS", loaded.c_str(), 1);
}
} // namespace

void companions_load()
{
	static std::once_flag &once = *new std::once_flag();

	std::call_once(once, load_all);
}
