/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The images programs load (fatbins, cubins, PTX) and where a probe can find the same bytes again.
 * An image that lies in a mapped file is kept by file and offset; one in other memory is copied if
 * it is small and a signature may match a kernel in it. An image that a kernel record points to
 * lives until the process ends; a copy of its bytes does only if a decoder knows the kernel.
 */
#ifndef AF_SHIM_IMAGES_H
#define AF_SHIM_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

struct image {
	uint64_t hash[2]; /* XXH3-128, 0,0 until images_identify */
	char *file;       /* file that holds the bytes, or NULL */
	uint64_t offset,
		bytes; /* in the file, or of the copy; PTX ends with its NUL if it has one */
	void *copy;    /* bytes kept by us if file is NULL; NULL: not available to a probe */
	bool used;     /* a kernel record points here: it stays, */
	bool needed;   /* and its bytes, too, as a decoder knows the kernel */
	bool lost;     /* the bytes could not be had when they were to be hashed */
	/* What tells that the file still is the one that was loaded. */
	struct image_file {
		uint64_t dev, inode, size, changed_ns;
		uint64_t print; /* of the image's first and last page, as loaded; 0: not taken */
	} seen;
};

/* A module or library (owner) was loaded from memory or from a file. The bytes must still be there.
 */
void images_load_data(const void *owner, const void *data);
void images_load_file(const void *owner, const char *path);
/* Module `owner` shows kernels of library `library`. */
void images_load_part(const void *owner, const void *library);
/* Forgets an owner before it is unloaded. The image (NULL if unknown) goes to images_unloaded. */
struct image *images_unload(const void *owner);
/* It was unloaded, or (ok false) the driver refused and the image is the owner's again. */
void images_unloaded(const void *owner, struct image *img, bool ok);
/* The image of an owner, NULL if unknown; it then counts as used. *library: the library that the
 * owner is a part of, else owner. */
struct image *images_of(const void *owner, const void **library);
/* A probe may want its bytes, also when it is unloaded. */
void images_need(struct image *img);

/* Keep every image's bytes, whether a signature may match or not. Set before the first load. */
extern bool images_keep_all;
/*
 * Where the image's bytes are, for a process that comes later: its file, or a copy in a new file in
 * the folder. 0, or -1 (they cannot be had, or the copies would be too many).
 */
int images_save(const struct image *img, const char *folder, char *path, unsigned size,
		uint64_t *offset);

/* Fills in the hash if it is missing. 0, or -1 if the bytes cannot be had any more. */
int images_identify(struct image *img);

/*
 * Makes the image available as a file: img->file itself, or a memfd of the copy (path written as
 * /proc/self/fd/N for a child that inherits fd N, close-on-exec off). Returns the fd to close
 * afterwards, -1 if none is needed, or -2 if the bytes cannot be had.
 */
int images_file(const struct image *img, char *path, unsigned size, uint64_t *offset);

#endif
