// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "shim/cache_image.h"
#include "shim/cache_nvrtc.h"
#include "tests/unit/own_cache.h"

static const struct image_label label = {.name = "chain", .cc = 90, .nvrtc = 13000};

static struct image_key key_of(unsigned n)
{
	char text[32];
	struct image_from f = {
		text, (size_t)snprintf(text, sizeof(text), "text %u", n), 90, 13000, 13000, 1};

	return cache_image_key(&f);
}

static void path_of(char *path, unsigned n)
{
	struct image_key k = key_of(n);

	snprintf(path, 400, "%s/image-%016llx%016llx", own_cache, (unsigned long long)k.hash[0],
		 (unsigned long long)k.hash[1]);
}

static void put(unsigned n, size_t bytes, uint64_t limit)
{
	unsigned char *image = malloc(bytes);

	for (size_t i = 0; i < bytes; i++)
		image[i] = (unsigned char)(i * 7 + n);
	assert_int_equal(cache_image_put(key_of(n), &label, image, bytes, limit), 0);
	free(image);
}

/* Is it there, whole? */
static bool there(unsigned n, size_t bytes)
{
	size_t got = 0;
	unsigned char *image = cache_image_get(key_of(n), &got);
	bool fine = image && got == bytes;

	for (size_t i = 0; fine && i < bytes; i++)
		fine = image[i] == (unsigned char)(i * 7 + n);
	if (image)
		assert_true(fine);
	free(image);
	return fine;
}

static void keys_differ(void **arg)
{
	struct image_from f = {"text", 4, 90, 13000, 13000, 1}, g = f;
	struct image_key k = cache_image_key(&f), same = cache_image_key(&g), other;

	assert_memory_equal(&k, &same, sizeof(k));
#define DIFFERS(change)                                                                            \
	g = f;                                                                                     \
	g.change;                                                                                  \
	other = cache_image_key(&g);                                                               \
	assert_memory_not_equal(&k, &other, sizeof(k))
	DIFFERS(text = "tExt");
	DIFFERS(len = 3);
	DIFFERS(cc = 80);
	DIFFERS(nvrtc = 13010);
	DIFFERS(driver = 12080);
	DIFFERS(build = 2);
}

static void put_and_get(void **arg)
{
	assert_false(there(1, 5000));
	put(1, 5000, 1 << 20);
	assert_true(there(1, 5000));
	put(1, 77, 1 << 20); /* in its place */
	assert_true(there(1, 77));
}

static void damage(void **arg)
{
	static const long at[] = {0, 9, 30, 100, 127, 128, 4000};
	char path[400];

	path_of(path, 2);
	for (unsigned i = 0; i < sizeof(at) / sizeof(*at); i++) {
		const char *said;
		int c;
		FILE *f;

		put(2, 4096, 1 << 20);
		f = fopen(path, "r+b");
		assert_non_null(f);
		fseek(f, at[i], SEEK_SET);
		c = fgetc(f);
		fseek(f, at[i], SEEK_SET);
		fputc(c ^ 0x10, f);
		fclose(f);
		unit_stderr_begin();
		assert_false(there(2, 4096));
		said = unit_stderr_end();
		if (!i) /* once for all of them */
			assert_non_null(strstr(said, "is damaged; it is made again"));
		else
			assert_string_equal(said, "");
		assert_int_equal(access(path, F_OK), -1);
	}
	put(2, 4096, 1 << 20);
	assert_int_equal(truncate(path, 1000), 0);
	assert_false(there(2, 4096));
	/* Another key's file under this name. */
	put(3, 100, 1 << 20);
	path_of(path, 3);
	{
		char other[400];

		path_of(other, 4);
		assert_int_equal(rename(path, other), 0);
	}
	assert_false(there(4, 100));
}

static void not_ours(void **arg)
{
	char path[400];

	put(5, 100, 1 << 20);
	path_of(path, 5);
	assert_int_equal(chmod(path, 0666), 0);
	unit_stderr_begin();
	assert_false(there(5, 100));
	assert_non_null(strstr(unit_stderr_end(), "not a file of this user's own"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_false(there(5, 100));
	assert_int_equal(unlink(path), 0);
}

static void used_at(unsigned n, time_t when)
{
	struct timespec t[2] = {{.tv_sec = when}, {.tv_sec = when}};
	char path[400];

	path_of(path, n);
	assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

static void bounded(void **arg)
{
	time_t now = time(NULL);
	size_t bytes = 0;
	char rm[300];

	snprintf(rm, sizeof(rm), "rm -f %s/image-*", own_cache);
	assert_int_equal(system(rm), 0);

	for (unsigned i = 10; i < 14; i++) {
		put(i, 1000, 1 << 20);
		used_at(i, now - 100 + (time_t)i);
	}
	free(cache_image_get(key_of(10), &bytes)); /* the oldest is used again */
	put(14, 1000, 3 * 1128); /* room for three: it, 10 and the newest of the rest */
	assert_true(there(14, 1000));
	assert_true(there(10, 1000));
	assert_true(there(13, 1000));
	assert_false(there(11, 1000));
	assert_false(there(12, 1000));
	{
		unsigned char big[5000] = {0};

		/* What would take all of it is not kept, and costs the others nothing. */
		assert_int_equal(cache_image_put(key_of(15), &label, big, sizeof(big), 3 * 1128),
				 -1);
	}
	assert_true(there(14, 1000));
}

static void count(void *arg, const struct image_entry *e)
{
	assert_string_equal(e->label.name, "chain");
	assert_false(e->damaged);
	++*(unsigned *)arg;
}

static void listed(void **arg)
{
	unsigned n = 0, all;

	put(20, 10, 1 << 20);
	all = cache_image_each(count, &n);
	assert_true(n >= 1);
	assert_int_equal(n, all);
	assert_true(cache_image_file("image-00"));
	assert_true(cache_image_file("nvrtc-00"));
	assert_false(cache_image_file("verdicts-00"));
}

/* Many processes put, get and trim the same few keys: whoever finds one finds it whole. */
static void many(void **arg)
{
	enum { PROCESSES = 6 };
	int failed = 0, status;

	for (unsigned p = 0; p < PROCESSES; p++)
		if (!fork()) {
			unsigned bad = 0;

			for (unsigned i = 0; i < 150; i++) {
				unsigned n = 30 + (i * 7 + p) % 5;
				unsigned char image[3000];
				size_t bytes = 0;
				unsigned char *got = cache_image_get(key_of(n), &bytes);

				for (size_t k = 0; k < sizeof(image); k++)
					image[k] = (unsigned char)(k * 7 + n);
				bad += got && (bytes != sizeof(image) || memcmp(got, image, bytes));
				free(got);
				cache_image_put(key_of(n), &label, image, sizeof(image), 4 * 3128);
			}
			_exit(bad != 0);
		}
	for (unsigned p = 0; p < PROCESSES; p++) {
		assert_true(wait(&status) > 0);
		failed += status != 0;
	}
	assert_int_equal(failed, 0);
}

static void one_at_a_time(void **arg)
{
	enum { PROCESSES = 5 };
	char path[400];
	int status;

	snprintf(path, sizeof(path), "%s/inside", own_cache);
	for (unsigned p = 0; p < PROCESSES; p++)
		if (!fork()) {
			int bad = 0;

			for (unsigned i = 0; i < 8; i++) {
				int fd = cache_image_lock(key_of(40), 20), inside;

				if (fd < 0)
					_exit(2);
				inside = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
				bad |= inside < 0;
				nanosleep(&(struct timespec){0, 2000000}, NULL);
				close(inside);
				unlink(path);
				cache_image_unlock(key_of(40), fd);
			}
			_exit(bad);
		}
	for (unsigned p = 0; p < PROCESSES; p++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	{
		int fd = cache_image_lock(key_of(40), 1);

		assert_true(fd >= 0);
		if (!fork()) /* not for ever */
			_exit(cache_image_lock(key_of(40), 1) != -1);
		wait(&status);
		assert_int_equal(status, 0);
		cache_image_unlock(key_of(40), fd);
	}
}

static void noted(void **arg)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/libnvrtc.so.13", own_cache);
	f = fopen(path, "w");
	fputs("a library", f);
	fclose(f);
	assert_int_equal(cache_nvrtc_get(7), 0);
	cache_nvrtc_put(7, 13010, path);
	assert_int_equal(cache_nvrtc_get(7), 13010);
	assert_int_equal(cache_nvrtc_get(8), 0);
	f = fopen(path, "a");
	fputs(", another one", f);
	fclose(f);
	assert_int_equal(cache_nvrtc_get(7), 0);
	cache_nvrtc_put(7, 13020, path);
	unlink(path); /* gone: what it made is good all the same */
	assert_int_equal(cache_nvrtc_get(7), 13020);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_differ), cmocka_unit_test(put_and_get),
		cmocka_unit_test(damage),      cmocka_unit_test(not_ours),
		cmocka_unit_test(bounded),     cmocka_unit_test(listed),
		cmocka_unit_test(many),        cmocka_unit_test(one_at_a_time),
		cmocka_unit_test(noted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, own_cache_make, own_cache_remove);
}
