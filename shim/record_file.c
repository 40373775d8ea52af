/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/log.h"

enum { BUFFER = 1 << 20, PAGE = 4096 };

/* Maps the next stretch of the file. Blocks are allocated first: a write to a hole of a full file
 * system would kill the program. 0, or an errno. */
static int map(struct record_file *f, long long offset)
{
	int err = posix_fallocate(f->fd, offset, BUFFER);
	void *p;

	if (err)
		return err;
	p = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, offset);
	if (p == MAP_FAILED)
		return errno;
	f->at = p;
	f->size = BUFFER;
	f->offset = offset;
	return 0;
}

static void stop(struct record_file *f, int err)
{
	log_warn_once("recording stopped: %s", strerror(err));
	record_file_close(f);
}

static void drain(struct record_file *f)
{
	size_t done = 0;

	while (done < f->used) {
		ssize_t n = write(f->fd, f->at + done, f->used - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			f->used = 0;
			stop(f, errno);
			return;
		}
		done += (size_t)n;
	}
	f->used = 0;
}

bool record_file_open(struct record_file *f, const char *path)
{
	int err;

	*f = (struct record_file){.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
	if (f->fd < 0) /* a pipe or device may only be written */
		f->fd = open(path, O_WRONLY | O_CLOEXEC);
	if (f->fd < 0)
		return false;
	if (!map(f, 0))
		return true;
	f->offset = -1;
	f->size = BUFFER;
	f->at = malloc(BUFFER);
	if (f->at)
		return true;
	err = errno;
	close(f->fd);
	f->fd = -1;
	errno = err;
	return false;
}

bool record_file_room(struct record_file *f)
{
	long long next;
	size_t keep;
	int err;

	if (f->fd < 0 || f->size - f->used >= RECORD_LINE)
		return f->fd >= 0;
	if (f->offset < 0) {
		drain(f);
		return f->fd >= 0;
	}
	keep = f->used % PAGE;
	next = f->offset + (long long)(f->used - keep);
	munmap(f->at, f->size);
	f->at = NULL;
	f->offset = next;
	f->used = keep;
	err = map(f, next);
	if (err)
		stop(f, err);
	return f->fd >= 0;
}

void record_file_close(struct record_file *f)
{
	if (f->fd < 0)
		return;
	if (f->offset < 0) {
		drain(f);
		if (f->fd < 0)
			return; /* by a failed write */
		free(f->at);
	} else {
		if (f->at)
			munmap(f->at, f->size);
		if (ftruncate(f->fd, f->offset + (long long)f->used))
			log_debug("the recording's end is padded");
	}
	close(f->fd);
	f->at = NULL;
	f->fd = -1;
}
