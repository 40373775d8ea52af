/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/images.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "config/hash.h"
#include "shim/elf.h"
#include "shim/image_bytes.h"
#include "shim/image_file.h"

enum { COPY_MAX = 8 << 20 };   /* bytes of an image in anonymous memory that we keep for probes */
enum { SAVE_MAX = 256 << 20 }; /* bytes of all copies that images_save makes */

bool images_keep_all;

struct owner {
	const void *handle;  /* CUmodule or CUlibrary */
	const void *library; /* the library this module is a part of, else handle */
	struct image *image;
	UT_hash_handle hh;
};

static struct {
	pthread_mutex_t lock; /* guards the table and images' hashes */
	struct owner *owners;
} images = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Lock held. An owner has gone. */
static void let_go(struct image *img)
{
	struct owner *o, *next;

	HASH_ITER(hh, images.owners, o, next)
	if (o->image == img)
		return;
	if (!img->used) {
		free(img->file);
		free(img->copy);
		free(img);
	} else if (!img->needed && !images_keep_all) {
		free(img->copy);
		img->copy = NULL;
	}
}

/* img NULL: the handle is somebody's of whom nothing is known. What had it before is gone. */
static void own(const void *handle, const void *library, struct image *img)
{
	struct image *was = NULL;
	struct owner *o;

	pthread_mutex_lock(&images.lock);
	HASH_FIND_PTR(images.owners, &handle, o);
	if (o)
		was = o->image;
	if (o && img) {
		o->library = library;
		o->image = img;
	} else if (o) {
		HASH_DEL(images.owners, o);
		free(o);
	} else if (img && (o = calloc(1, sizeof(*o)))) {
		*o = (struct owner){.handle = handle, .library = library, .image = img};
		HASH_ADD_PTR(images.owners, handle, o);
		if (!o->hh.tbl)
			free(o);
	}
	if (was)
		let_go(was);
	pthread_mutex_unlock(&images.lock);
}

struct image *images_of(const void *handle, const void **library)
{
	struct image *img = NULL;
	struct owner *o;

	*library = handle;
	pthread_mutex_lock(&images.lock);
	HASH_FIND_PTR(images.owners, &handle, o);
	if (o) {
		img = o->image;
		img->used = true;
		*library = o->library;
	}
	pthread_mutex_unlock(&images.lock);
	return img;
}

struct image *images_unload(const void *handle)
{
	struct owner *o, *next;
	struct image *img = NULL;

	pthread_mutex_lock(&images.lock);
	HASH_ITER(hh, images.owners, o, next)
	{
		if (o->handle == handle)
			img = o->image;
		if (o->library != handle && o->handle != handle)
			continue;
		HASH_DEL(images.owners, o);
		free(o);
	}
	pthread_mutex_unlock(&images.lock);
	return img;
}

void images_unloaded(const void *handle, struct image *img, bool ok)
{
	if (!img)
		return;
	if (!ok) {
		own(handle, handle, img);
		return;
	}
	pthread_mutex_lock(&images.lock);
	let_go(img);
	pthread_mutex_unlock(&images.lock);
}

void images_need(struct image *img)
{
	pthread_mutex_lock(&images.lock);
	img->needed = true;
	pthread_mutex_unlock(&images.lock);
}

void images_load_part(const void *handle, const void *library)
{
	const void *same;
	struct image *img = images_of(library, &same);

	if (img)
		own(handle, library, img);
}

/* Is data a read-only part of a loaded ELF object, i.e. the same bytes as in its file? */
static bool in_object(struct image *img, const void *data)
{
	uintptr_t at = (uintptr_t)data;
	struct elf o;

	if (!elf_at(data, &o))
		return false;
	for (unsigned i = 0; i < o.nphdr; i++) {
		const ElfW(Phdr) *p = &o.phdr[i];
		uintptr_t lo = o.base + p->p_vaddr;

		if (p->p_type != PT_LOAD || p->p_flags & PF_W || at < lo ||
		    at + img->bytes > lo + p->p_filesz)
			continue;
		img->offset = p->p_offset + (at - lo);
		return image_file_keep(img, o.path);
	}
	return false;
}

void images_load_data(const void *handle, const void *data)
{
	struct image *img = NULL;
	uint64_t bytes;

	if (!data || !(data = image_bytes(data, &bytes)) || !(img = calloc(1, sizeof(*img)))) {
		own(handle, handle, NULL);
		return;
	}
	img->bytes = bytes;
	if (in_object(img, data)) {
		img->seen.print = image_file_print(data, bytes);
	} else if (bytes <= COPY_MAX && (images_keep_all || image_matters(data, bytes)) &&
		   (img->copy = malloc(bytes))) {
		img->offset = 0;
		memcpy(img->copy, data, bytes);
	}
	own(handle, handle, img);
}

void images_load_file(const void *handle, const char *path)
{
	struct image *img = path ? calloc(1, sizeof(*img)) : NULL;

	if (img && image_file_keep(img, path))
		img->bytes = img->seen.size;
	own(handle, handle, img);
}

int images_identify(struct image *img)
{
	int rc = 0;

	pthread_mutex_lock(&images.lock);
	if (img->lost) {
		rc = -1;
	} else if (!img->hash[0] && !img->hash[1]) {
		if (img->file) {
			rc = image_file_hash(img, img->hash);
		} else if (img->copy) {
			XXH128_hash_t h = XXH3_128bits(img->copy, img->bytes);

			img->hash[0] = h.high64;
			img->hash[1] = h.low64;
		} else {
			rc = -1;
		}
		img->lost = rc;
	}
	pthread_mutex_unlock(&images.lock);
	return rc;
}

static int write_all(int fd, const char *p, uint64_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, p, bytes);

		if (n <= 0)
			return -1;
		p += n;
		bytes -= (uint64_t)n;
	}
	return 0;
}

int images_save(const struct image *img, const char *folder, char *path, unsigned size,
		uint64_t *offset)
{
	static uint64_t saved;
	static unsigned count;
	int fd, rc;

	if (img->file) {
		*offset = img->offset;
		return (unsigned)snprintf(path, size, "%s", img->file) < size ? 0 : -1;
	}
	*offset = 0;
	if (!img->copy || __atomic_add_fetch(&saved, img->bytes, __ATOMIC_RELAXED) > SAVE_MAX ||
	    (unsigned)snprintf(path, size, "%s/%d-%u.image", folder, (int)getpid(),
			       __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED)) >= size)
		return -1;
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	rc = write_all(fd, img->copy, img->bytes);
	close(fd);
	return rc;
}

int images_file(const struct image *img, char *path, unsigned size, uint64_t *offset)
{
	int fd;

	if (img->file) {
		if ((unsigned)snprintf(path, size, "%s", img->file) >= size ||
		    (fd = image_file_open(img)) < 0)
			return -2;
		close(fd);
		*offset = img->offset;
		return -1;
	}
	fd = img->copy ? (int)syscall(SYS_memfd_create, "autofuse-image", 0u) : -1;
	if (fd < 0)
		return -2;
	if (write_all(fd, img->copy, img->bytes) ||
	    (unsigned)snprintf(path, size, "/proc/self/fd/%d", fd) >= size) {
		close(fd);
		return -2;
	}
	*offset = 0;
	return fd;
}
