/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* The image's size, or 0 if it is none that the driver would take. */
size_t image_bytes(const char *p)
{
	struct fatbin f;

	memcpy(&f, p, sizeof(f.magic));
	if (f.magic == FATBIN_MAGIC) {
		memcpy(&f, p, sizeof(f));
		return f.header + f.bytes;
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
