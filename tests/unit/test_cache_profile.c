// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "shim/cache_profile.h"

static char dir[256];

static int setup(void **arg)
{
	snprintf(dir, sizeof(dir), "%s/autofuse-profile-XXXXXX",
		 getenv("AF_TMP") ? getenv("AF_TMP") : "/tmp");
	return mkdtemp(dir) && !cache_open(dir, 1) ? 0 : -1;
}

static char *file(void)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/profile", dir);
	return path;
}

static int teardown(void **arg)
{
	unlink(file());
	return rmdir(dir);
}

struct seen {
	struct profile_row row[8];
	unsigned n;
};

static void see(void *arg, const struct profile_row *r)
{
	struct seen *s = arg;

	assert_true(s->n < 8);
	s->row[s->n++] = *r;
}

static struct seen read_all(void)
{
	struct seen s = {.n = 0};

	cache_profile_each(see, &s);
	return s;
}

static const struct profile_row rows[] = {
	{.key = {{1, 2}}, .rows = 1, .members_ns = 3000, .fused_ns = 2000, .samples = 3},
	{.key = {{1, 2}}, .rows = 64, .members_ns = 9000, .fused_ns = 9500, .samples = 40},
	{.key = {{~0ull, 3}}, .rows = 1, .members_ns = 1, .fused_ns = UINT32_MAX, .samples = 5},
};

static void test_round_trip(void **arg)
{
	struct profile_row newer = rows[0];
	struct seen s;

	assert_int_equal(read_all().n, 0);
	assert_int_equal(cache_profile_put(rows, 3), 0);
	s = read_all();
	assert_int_equal(s.n, 3);
	assert_memory_equal(s.row, rows, sizeof(rows));
	newer.fused_ns = 4000; /* takes the older one's place */
	assert_int_equal(cache_profile_put(&newer, 1), 0);
	s = read_all();
	assert_int_equal(s.n, 3);
	assert_int_equal(s.row[2].fused_ns, 4000);
	assert_int_equal(s.row[2].rows, 1);
}

/* Whatever byte of the file is changed, the row it belongs to is not believed. */
static void test_damage(void **arg)
{
	char text[1024], was;
	ssize_t n;
	int fd;

	assert_int_equal(cache_profile_put(rows, 3), 0);
	fd = open(file(), O_RDWR);
	n = read(fd, text, sizeof(text));
	assert_true(n > 0);
	for (ssize_t i = 0; i < n; i++) {
		struct seen s;

		was = text[i];
		text[i] ^= 1;
		assert_int_equal(pwrite(fd, text + i, 1, i), 1);
		s = read_all();
		assert_true(s.n < 3);
		for (unsigned k = 0; k < s.n; k++) {
			bool known = false;

			for (unsigned j = 0; j < 3; j++)
				known |= !memcmp(&s.row[k], &rows[j], sizeof(rows[j]));
			assert_true(known);
		}
		text[i] = was;
		assert_int_equal(pwrite(fd, text + i, 1, i), 1);
	}
	close(fd);
	assert_int_equal(read_all().n, 3);
}

static void test_not_ours(void **arg)
{
	assert_int_equal(cache_profile_put(rows, 1), 0);
	assert_int_equal(chmod(file(), 0666), 0);
	unit_stderr_begin();
	assert_int_equal(read_all().n, 0);
	assert_contains(unit_stderr_end(), "is not a file of this user's own");
	unlink(file());
	assert_int_equal(symlink("/dev/zero", file()), 0);
	assert_int_equal(read_all().n, 0);
	unlink(file());
}

static void test_many(void **arg)
{
	struct profile_row *many = calloc(5000, sizeof(*many));
	struct stat st;

	assert_non_null(many);
	for (unsigned i = 0; i < 5000; i++)
		many[i] = (struct profile_row){.key = {{i, i}}, .rows = 1, .members_ns = i};
	assert_int_equal(cache_profile_put(many, 5000), 0);
	assert_int_equal(stat(file(), &st), 0);
	assert_true(st.st_size < 1 << 20); /* the oldest are forgotten */
	free(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_ours, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
