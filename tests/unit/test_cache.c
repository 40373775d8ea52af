// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "tests/unit/own_cache.h"

enum { LIMIT = 4 << 20, RECORDS = 2400 /* of 2.6 KiB */ };

static const char *path_of(const char *end)
{
	static char path[320];

	snprintf(path, sizeof(path), "%s/verdicts-%016x%s", own_cache, 1, end);
	return path;
}

static struct cache_record record_of(uint64_t n)
{
	struct cache_record r = {.key = {{n, 77}}, .kind = CACHE_VERDICT, .rows = 1};

	memset(r.candidate, 'x', sizeof(r.candidate) - 1);
	return r;
}

/* How often the file was written anew meanwhile. */
static unsigned put_many(uint64_t from)
{
	unsigned anew = 0;
	ino_t last = 0;

	for (uint64_t n = from; n < from + RECORDS; n++) {
		struct cache_record r = record_of(n);
		struct stat st;

		assert_int_equal(cache_put(&r), 0);
		assert_int_equal(stat(path_of(""), &st), 0);
		assert_true(st.st_size <= LIMIT + 4096);
		anew += last && st.st_ino != last;
		last = st.st_ino;
	}
	return anew;
}

static void test_newest_are_kept(void **arg)
{
	struct cache_record r = record_of(0);

	r.kind = CACHE_REJECT;
	r.why = REASON_QUARANTINED;
	assert_int_equal(cache_put(&r), 0);
	r = record_of(1);
	assert_int_equal(cache_put(&r), 0);
	assert_int_equal(put_many(100), 2); /* of more than 6 MiB */
	assert_true(cache_find((struct key){{100 + RECORDS - 1, 77}}, &r));
	assert_true(cache_find((struct key){{100 + RECORDS - 700, 77}}, &r));
	assert_false(cache_find((struct key){{1, 77}}, &r));
	/* but what was found out the hard way */
	assert_true(cache_find((struct key){{0, 77}}, &r));
	assert_int_equal(r.why, REASON_QUARANTINED);
}

/* Said again, a record is new again. */
static void test_order(void **arg)
{
	struct cache_record old = record_of(1), said = record_of(2), r;

	assert_int_equal(cache_put(&said), 0);
	assert_int_equal(cache_put(&old), 0);
	for (uint64_t n = 0; n < 1000; n++) {
		r = record_of(100 + n);
		assert_int_equal(cache_put(&r), 0);
	}
	said.rows = 2;
	assert_int_equal(cache_put(&said), 0);
	for (uint64_t n = 0; n < 700; n++) {
		r = record_of(2000 + n);
		assert_int_equal(cache_put(&r), 0);
	}
	assert_false(cache_find(old.key, &r));
	assert_true(cache_find(said.key, &r));
	assert_int_equal(r.rows, 2);
}

/* A process ended in the middle of it, and this one has its number. */
static void test_left_file(void **arg)
{
	char end[16];
	int fd;

	snprintf(end, sizeof(end), ".%d", (int)getpid());
	fd = open(path_of(end), O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(put_many(100), 2); /* of more than 6 MiB */
	assert_int_equal(access(path_of(end), F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_newest_are_kept, own_cache_make,
						own_cache_remove),
		cmocka_unit_test_setup_teardown(test_order, own_cache_make, own_cache_remove),
		cmocka_unit_test_setup_teardown(test_left_file, own_cache_make, own_cache_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
