// SPDX-License-Identifier: Apache-2.0
/* `autofuse scan` on every kind of file that device code comes in. */
#include "command.h"

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>

static const char *file(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/tests/unit/scan/%s", command_build(), name);
	return path;
}

static json_t *scan(const char *path, const char *flags)
{
	json_error_t err;
	json_t *j;

	j = json_loads(command("scan %s --json %s", path, flags), 0, &err);
	if (!j)
		fail_msg("%s: %s", path, err.text);
	return j;
}

static json_int_t number(const json_t *j, const char *key)
{
	assert_true(json_is_integer(json_object_get(j, key)));
	return json_integer_value(json_object_get(j, key));
}

static const char *text(const json_t *j, const char *key)
{
	assert_true(json_is_string(json_object_get(j, key)));
	return json_string_value(json_object_get(j, key));
}

/* The kernel whose readable name begins with that. */
static json_t *kernel(json_t *all, const char *name)
{
	json_t *list = json_object_get(all, "kernels");

	for (size_t i = 0; i < json_array_size(list); i++)
		if (!strncmp(text(json_array_get(list, i), "name"), name, strlen(name)))
			return json_array_get(list, i);
	fail_msg("no kernel %s", name);
	return NULL;
}

/* "8@0 4@24": bytes and offset of each parameter, '*' where it is known to be a pointer. */
static const char *layout(json_t *k)
{
	static char line[512];
	json_t *list = json_object_get(k, "parameters");
	int n = 0;

	line[0] = 0;
	assert_true(json_is_array(list));
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *p = json_array_get(list, i);

		n += snprintf(line + n, sizeof(line) - (size_t)n, "%s%d@%d%s", i ? " " : "",
			      (int)number(p, "bytes"), (int)number(p, "offset"),
			      json_object_get(p, "pointer") ? "*" : "");
	}
	return line;
}

static void test_cubins(void **arg)
{
	static const struct {
		const char *file, *arch, *plain, *huge;
	} row[] = {{"sm75.cubin", "sm_75", "8@0 8@8 8@16 4@24", "20000@0 8@20000 2@20008"},
		   {"sm90.cubin", "sm_90", "8@0 8@8 8@16 4@24", "20000@0 8@20000 2@20008"},
		   {"sm100.cubin", "sm_100", "8@0* 8@8* 8@16* 4@24", "20000@0 8@20000* 2@20008"}};

	for (unsigned i = 0; i < 3; i++) {
		json_t *j = scan(file(row[i].file), ""), *k, *t;

		assert_int_equal(command_status, 0);
		assert_int_equal(number(j, "cubins"), 1);
		assert_int_equal(number(j, "kernels_in_cubins"), 5);
		assert_int_equal(json_array_size(json_object_get(j, "kernels")), 5);
		k = kernel(j, "plain(float*, float const*, float const*, int)");
		assert_string_equal(layout(k), row[i].plain);
		t = json_array_get(json_object_get(k, "targets"), 0);
		assert_string_equal(text(t, "arch"), row[i].arch);
		assert_in_range(number(t, "shared"), 132, 144); /* 33 floats, maybe rounded up */
		assert_in_range(number(t, "registers"), 4, 255);
		assert_string_equal(layout(kernel(j, "huge(")), row[i].huge);
		assert_string_equal(layout(kernel(j, "none()")), "");
		assert_string_equal(text(kernel(j, "none()"), "kernel"), "_Z4nonev");
		kernel(j, "(anonymous namespace)::hidden(int*)");
		json_decref(j);
	}
}

/* An empty struct takes a byte, and what follows keeps its alignment. */
static void test_mixed(void **arg)
{
	static const char *const name[] = {"sm90.cubin", "ptx.o"};

	for (unsigned i = 0; i < 2; i++) {
		json_t *j = scan(file(name[i]), "");

		assert_string_equal(layout(kernel(j, "void mixed<float>(")),
				    "8@0 16@16 1@32 8@40 1@48");
		json_decref(j);
	}
}

static void test_fatbins(void **arg)
{
	static const char *const name[] = {"plain", "lz4", "zstd"};

	for (unsigned i = 0; i < 3; i++) {
		char path[64];
		json_t *j, *code, *targets;
		bool found = false;

		snprintf(path, sizeof(path), "%s.fatbin", name[i]);
		j = scan(file(path), "");
		assert_int_equal(command_status, 0);
		assert_int_equal(number(j, "cubins"), 2);
		assert_int_equal(number(j, "ptx"), 1);
		assert_int_equal(number(j, "kernels_in_cubins"), 10);
		assert_int_equal(json_array_size(json_object_get(j, "kernels")), 5);
		code = json_object_get(j, "code");
		for (size_t k = 0; k < json_array_size(code); k++)
			found |= !strcmp(text(json_array_get(code, k), "compression"), name[i]);
		assert_true(found);
		targets = json_object_get(kernel(j, "plain("), "targets");
		assert_int_equal(json_array_size(targets), 3);
		assert_string_equal(text(json_array_get(targets, 0), "arch"), "sm_75");
		assert_string_equal(text(json_array_get(targets, 1), "arch"), "sm_90a");
		assert_string_equal(text(json_array_get(targets, 2), "arch"), "compute_80");
		json_decref(j);
	}
}

static void test_ptx_only(void **arg)
{
	json_t *j = scan(file("ptx.o"), "");

	assert_int_equal(number(j, "cubins"), 0);
	assert_int_equal(number(j, "ptx"), 1);
	assert_string_equal(layout(kernel(j, "plain(")), "8@0 8@8 8@16 4@24");
	assert_string_equal(layout(kernel(j, "huge(")), "20000@0 8@20000 2@20008");
	assert_string_equal(layout(kernel(j, "none()")), "");
	json_decref(j);
	/* A text by itself. */
	j = scan(file("../purity-sm90.ptx"), "");
	assert_int_equal(number(j, "ptx"), 1);
	assert_string_equal(text(json_array_get(json_object_get(j, "code"), 0), "arch"),
			    "compute_90");
	kernel(j, "writes_variable");
	json_decref(j);
}

/* Relocatable code alone counts; beside the code it was linked to only on request. */
static void test_relocatable(void **arg)
{
	json_t *j = scan(file("relocatable.o"), ""), *code;

	assert_int_equal(number(j, "kernels_in_cubins"), 8);
	code = json_array_get(json_object_get(j, "code"), 0);
	assert_true(json_is_true(json_object_get(code, "relocatable")));
	assert_string_equal(text(code, "in"), "__nv_relfatbin");
	json_decref(j);
	/* The device linker keeps the one kernel that the host code launches. */
	j = scan(file("linked"), "");
	assert_int_equal(number(j, "kernels_in_cubins"), 2);
	code = json_array_get(json_object_get(j, "code"), 0);
	assert_null(json_object_get(code, "relocatable"));
	assert_string_equal(text(code, "in"), ".nv_fatbin");
	json_decref(j);
	j = scan(file("linked"), "--all");
	assert_int_equal(number(j, "kernels_in_cubins"), 10);
	json_decref(j);
}

static void test_archive(void **arg)
{
	json_t *j = scan(file("lib.a"), ""), *code;

	assert_int_equal(number(j, "kernels_in_cubins"), 8);
	assert_int_equal(number(j, "ptx"), 1);
	code = json_object_get(j, "code");
	assert_string_equal(text(json_array_get(code, 0), "in"), "relocatable.o");
	assert_string_equal(text(json_array_get(code, 2), "in"), "ptx.o");
	json_decref(j);
}

/* Our own library keeps its image outside the usual sections; a running process has it mapped. */
static void test_embedded_and_process(void **arg)
{
	char path[4096], flag[64];
	json_t *j, *k;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/libautofuse.so", command_build());
	j = scan(path, "");
	assert_in_range(number(j, "cubins"), 1, 16);
	kernel(j, "af_add_rmsnorm_f32");
	json_decref(j);
	pid = fork();
	if (!pid) {
		setenv("LD_PRELOAD", path, 1);
		execlp("sleep", "sleep", "60", (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < 100; i++) {
		snprintf(flag, sizeof(flag), "%d", (int)pid);
		j = scan(flag, "");
		if (number(j, "cubins"))
			break;
		json_decref(j); /* not through execve yet */
		usleep(50000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	k = kernel(j, "af_add_rmsnorm_f32");
	assert_non_null(k);
	json_decref(j);
}

static void test_known_and_suggested(void **arg)
{
	char ini[4200], line[16384];
	json_t *j, *k;

	snprintf(ini, sizeof(ini), "%s.ini", command_scratch("suggest"));
	snprintf(line, sizeof(line), "%s/autofuse scan %s --suggest --match='plain*' >%s",
		 command_build(), file("zstd.fatbin"), ini);
	assert_int_equal(system(line), 0);
	/* As written it says nothing: it reads without complaint, and the kernel stays unknown. */
	assert_null(strstr(command("config -f %s", ini), "autofuse: "));
	assert_int_equal(command_status, 0);
	j = scan(file("zstd.fatbin"), "--match=_Z5plain*");
	assert_int_equal(json_array_size(json_object_get(j, "kernels")), 1);
	assert_true(json_is_null(json_object_get(kernel(j, "plain("), "decoder")));
	json_decref(j);
	/* Completed as its comments say, it makes the kernel known. */
	snprintf(line, sizeof(line),
		 "sed -i 's/^op = opaque/op = add/; s/^; dtype/dtype/; "
		 "s/^; args = - - - -/args = out in0 in1 n/' %s",
		 ini);
	assert_int_equal(system(line), 0);
	snprintf(line, sizeof(line), "-f %s", ini);
	j = scan(file("zstd.fatbin"), line);
	k = kernel(j, "plain(");
	assert_string_equal(text(k, "decoder"), "signature");
	assert_string_equal(text(k, "signature"), "plain-1");
	assert_string_equal(text(k, "op"), "add");
	assert_contains(command("scan %s -f %s", file("zstd.fatbin"), ini),
			"[kernel plain-1] says add");
	json_decref(j);
	unlink(ini);
}

static void test_bad_files(void **arg)
{
	char cut[4200], line[16384];

	assert_contains(command("scan /no/such/file"), "/no/such/file: No such file");
	assert_int_equal(command_status, 2);
	assert_contains(command("scan /"), "/ is not a file");
	assert_contains(command("scan 999999999"), "process 999999999: No such file");
	assert_contains(command("scan"), "usage: autofuse scan");
	assert_contains(command("scan --what x"), "what");
	assert_int_equal(command_status, 2);
	assert_contains(command("scan /bin/true"), "/bin/true: no device code");
	assert_int_equal(command_status, 0);
	/* A table whose end is missing. */
	snprintf(cut, sizeof(cut), "%s", command_scratch("cut"));
	snprintf(line, sizeof(line), "head -c $(($(stat -c %%s %s) * 2 / 3)) %s >%s",
		 file("plain.fatbin"), file("plain.fatbin"), cut);
	assert_int_equal(system(line), 0);
	assert_contains(command("scan %s", cut), "DAMAGED");
	assert_int_equal(command_status, 1);
	unlink(cut);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_cubins),
	cmocka_unit_test(test_mixed),
	cmocka_unit_test(test_fatbins),
	cmocka_unit_test(test_ptx_only),
	cmocka_unit_test(test_relocatable),
	cmocka_unit_test(test_archive),
	cmocka_unit_test(test_embedded_and_process),
	cmocka_unit_test(test_known_and_suggested),
	cmocka_unit_test(test_bad_files),
};
UNIT_MAIN(tests)
