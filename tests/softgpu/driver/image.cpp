/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <elf.h>
#include <map>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tests/softgpu/driver/module.h"
#include "tests/softgpu/driver/registry.h"

namespace
{
enum : uint32_t { WRAPPER_MAGIC = 0x466243b1, FATBIN_MAGIC = 0xba55ed50 };

struct wrapper { /* what __cudaRegisterFatBinary gets */
	uint32_t magic, version;
	const void *data;
};

struct fatbin {
	uint32_t magic;
	uint16_t version, header;
	uint64_t bytes; /* behind the header */
};

/* What the software GPU's NVRTC makes (nvrtc/nvrtc.c): a companion library, behind this. */
const char COMPILED_MAGIC[16] = "softgpu-image\n";
struct compiled {
	char magic[16];
	uint64_t bytes;
};

/* Loads it, for good: its kernels register themselves. */
bool compiled_load(const char *p)
{
	static std::mutex &lock = *new std::mutex();
	static std::map<uint64_t, bool> &loaded = *new std::map<uint64_t, bool>();
	std::lock_guard<std::mutex> hold(lock);
	struct compiled c;
	uint64_t hash = 14695981039346656037ull;
	char path[64];

	memcpy(&c, p, sizeof(c));
	for (uint64_t i = 0; i < c.bytes; i++)
		hash = (hash ^ static_cast<unsigned char>(p[sizeof(c) + i])) * 1099511628211ull;
	auto found = loaded.find(hash);
	if (found != loaded.end())
		return found->second;
	int fd = static_cast<int>(syscall(SYS_memfd_create, "softgpu-image", 1u));
	bool fine = fd >= 0 && write(fd, p + sizeof(c), c.bytes) == static_cast<ssize_t>(c.bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fine && !dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
		fprintf(stderr, "softgpu: %s\n", dlerror());
		fine = false;
	}
	/* Left open: by a name that it knows, dlopen would answer the library that had it before. */
	return loaded[hash] = fine;
}

/* The image's size, or 0 if it is none that the driver would take. */
size_t image_bytes(const char *p)
{
	struct fatbin f;

	memcpy(&f, p, sizeof(f.magic));
	if (f.magic == FATBIN_MAGIC) {
		memcpy(&f, p, sizeof(f));
		return f.header + f.bytes;
	}
	if (memcmp(p, COMPILED_MAGIC, sizeof(COMPILED_MAGIC)) == 0) {
		struct compiled c;

		memcpy(&c, p, sizeof(c));
		return compiled_load(p) ? sizeof(c) + c.bytes : 0;
	}
	if (memcmp(p, ELFMAG, SELFMAG) == 0) {
		Elf64_Ehdr e;

		memcpy(&e, p, sizeof(e));
		return e.e_shoff + static_cast<size_t>(e.e_shnum) * e.e_shentsize;
	}
	/* PTX: text that says .version before anything but comments and space. */
	return p[0] &&
			       (p[0] == '/' || p[0] == '.' || p[0] == '\n' || p[0] == ' ' ||
				p[0] == '\t') &&
			       strstr(p, ".version")
		       ? strlen(p)
		       : 0;
}
} // namespace

CUresult image_look(const void *image, std::vector<std::string> *names)
{
	struct wrapper w;

	if (!image)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&w.magic, image, sizeof(w.magic));
	if (w.magic == WRAPPER_MAGIC) {
		memcpy(&w, image, sizeof(w));
		image = w.data;
	}
	const char *p = static_cast<const char *>(image);
	size_t bytes = p ? image_bytes(p) : 0;
	if (!bytes)
		return CUDA_ERROR_INVALID_IMAGE;
	/* Compressed parts hide their names; only enumeration misses them. */
	for (const std::string &name : registry_kernel_names())
		if (memmem(p, bytes, name.c_str(), name.size() + (name.size() < bytes)))
			names->push_back(name);
	return CUDA_SUCCESS;
}

char *image_read(const char *path)
{
	FILE *f = path ? fopen(path, "rb") : nullptr;
	char *p = nullptr;

	if (!f)
		return nullptr;
	if (fseek(f, 0, SEEK_END) == 0) {
		long bytes = ftell(f);

		rewind(f);
		p = bytes > 0 ? static_cast<char *>(calloc(1, static_cast<size_t>(bytes) + 64))
			      : nullptr;
		if (p && fread(p, 1, static_cast<size_t>(bytes), f) != static_cast<size_t>(bytes)) {
			free(p);
			p = nullptr;
		}
	}
	fclose(f);
	return p;
}
