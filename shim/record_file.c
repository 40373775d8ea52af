/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "config/log.h"
#include "config/pipe.h"

enum { BUFFER = 1 << 20, PAGE = 4096, WRITE_MS = 100 };

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
	log_warn_once("recording stopped: %s",
		      err == EAGAIN ? "its reader does not read" : strerror(err));
	record_file_close(f);
}

static void drain(struct record_file *f)
{
	int err = pipe_write_all(f->fd, f->at, f->used) ? errno : 0;

	f->used = 0;
	if (err)
		stop(f, err);
}

static int open_file(const char *path, bool mapped)
{
	struct stat st;
	int fd;

	/* Opened to be read, too, a pipe would wait for a reader that never comes. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		fd = open(path, O_WRONLY | O_CLOEXEC); /* it may only be written */
	if (fd < 0)
		return -1;
	/* Another process that records there must not lose what it writes, or the pages it writes
	 * to. */
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		close(fd);
		errno = EBUSY;
		return -1;
	}
	if (ftruncate(fd, 0))
		log_debug("a recording that is no file");
	return fd;
}

bool record_file_open(struct record_file *f, const char *path, bool mapped)
{
	int err;

	*f = (struct record_file){.fd = open_file(path, mapped)};
	if (f->fd < 0)
		return false;
	if (mapped && !map(f, 0))
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

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

bool record_file_room(struct record_file *f)
{
	long long next;
	size_t keep;
	int err;

	if (f->fd < 0)
		return false;
	if (f->offset < 0) {
		uint64_t now = now_ms();

		if (f->size - f->used < RECORD_LINE || now - f->written > WRITE_MS) {
			drain(f);
			f->written = now;
		}
		return f->fd >= 0;
	}
	if (f->size - f->used >= RECORD_LINE)
		return true;
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
	flock(f->fd, LOCK_UN); /* a forked child may have the file open, too */
	close(f->fd);
	f->at = NULL;
	f->fd = -1;
}
