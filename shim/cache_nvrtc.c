/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/cache_nvrtc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "shim/cache.h"
#include "shim/cache_dir.h"

enum { NAME = 64, TEXT = 4400 };

static void note_name(char *name, uint64_t search)
{
	snprintf(name, NAME, "nvrtc-%016" PRIx64, search);
}

/* "afnvrtc1 VERSION SIZE SECONDS PATH\n#CHECKSUM\n". The length of the text. */
static int format(char *text, unsigned version, const char *path)
{
	struct stat st;
	int n;

	if (strchr(path, '\n') || stat(path, &st))
		return -1;
	n = snprintf(text, TEXT, "afnvrtc1 %u %jd %jd %s\n", version, (intmax_t)st.st_size,
		     (intmax_t)st.st_mtime, path);
	if (n < 0 || n > TEXT - 24)
		return -1;
	return n + sprintf(text + n, "#%016" PRIx64 "\n", (uint64_t)XXH3_64bits(text, (size_t)n));
}

static int slurp(const char *name, char *text)
{
	int fd = openat(cache_dirfd(), name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && cache_dir_own(&st))
		n = read(fd, text, TEXT - 1);
	close(fd);
	if (n >= 0)
		text[n] = '\0';
	return (int)n;
}

unsigned cache_nvrtc_get(uint64_t search)
{
	char name[NAME], text[TEXT], path[TEXT], again[TEXT];
	unsigned version;
	uint64_t sum;
	char *end;

	if (cache_dirfd() < 0)
		return 0;
	note_name(name, search);
	if (slurp(name, text) <= 0 || !(end = strchr(text, '\n')) ||
	    sscanf(end + 1, "#%16" SCNx64, &sum) != 1 ||
	    sum != (uint64_t)XXH3_64bits(text, (size_t)(end + 1 - text)) ||
	    sscanf(text, "afnvrtc1 %u %*d %*d %[^\n]", &version, path) != 2)
		return 0;
	if (!access(path, F_OK) && (format(again, version, path) < 0 || strcmp(again, text)))
		return 0;
	return version;
}

void cache_nvrtc_put(uint64_t search, unsigned version, const char *path)
{
	char name[NAME], tmp[NAME + 16], text[TEXT];
	int n = format(text, version, path), fd;
	bool ok;

	if (cache_dirfd() < 0 || n < 0)
		return;
	note_name(name, search);
	snprintf(tmp, sizeof(tmp), "%s.%d", name, (int)getpid());
	fd = openat(cache_dirfd(), tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return;
	/* Damaged or lost, it is only found again. */
	ok = write(fd, text, (size_t)n) == n;
	close(fd);
	if (!ok || renameat(cache_dirfd(), tmp, cache_dirfd(), name))
		unlinkat(cache_dirfd(), tmp, 0);
}
