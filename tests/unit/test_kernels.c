/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel records and the images behind them, on a driver of four functions. */
#include "tests/unit/unit.h"

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "config/config.h"
#include "matcher/sig.h"
#include "shim/driver.h"
#include "shim/elf.h"
#include "shim/kernels.h"

/* Handle numbers: 1xx are functions of module 10, 2xx kernels of library 20, 3xx of nobody. */
static const char *name_of[400];
static int queries;

static CUresult function_name(const char **name, CUfunction f)
{
	uintptr_t i = (uintptr_t)f;

	queries++;
	if (i / 100 != 1 && i / 100 != 3)
		return CUDA_ERROR_INVALID_HANDLE;
	*name = name_of[i];
	return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult kernel_name(const char **name, CUkernel k)
{
	uintptr_t i = (uintptr_t)k;

	if (i / 100 != 2)
		return CUDA_ERROR_INVALID_HANDLE;
	*name = name_of[i];
	return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult function_module(CUmodule *m, CUfunction f)
{
	*m = (CUmodule)10;
	return (uintptr_t)f / 100 == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult kernel_library(CUlibrary *l, CUkernel k)
{
	*l = (CUlibrary)20;
	return CUDA_SUCCESS;
}

/* (void *out, float x, void *in): offsets 0, 8, 16. */
static CUresult param(size_t i, size_t *offset, size_t *bytes)
{
	if (i > 2)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = 8 * i;
	*bytes = i == 1 ? 4 : 8;
	return CUDA_SUCCESS;
}

static CUresult function_param(CUfunction f, size_t i, size_t *offset, size_t *bytes)
{
	return (uintptr_t)f / 100 == 2 ? CUDA_ERROR_INVALID_HANDLE : param(i, offset, bytes);
}

static CUresult kernel_param(CUkernel k, size_t i, size_t *offset, size_t *bytes)
{
	return (uintptr_t)k / 100 != 2 ? CUDA_ERROR_INVALID_HANDLE : param(i, offset, bytes);
}

struct driver real = {.cuFuncGetName = function_name,
		      .cuKernelGetName = kernel_name,
		      .cuFuncGetModule = function_module,
		      .cuKernelGetLibrary = kernel_library,
		      .cuFuncGetParamInfo = function_param,
		      .cuKernelGetParamInfo = kernel_param};

static CUfunction handle(uintptr_t i)
{
	return (CUfunction)i;
}

static void records(void **state)
{
	struct kernel_rec *r;

	name_of[100] = "_Z3addPfS_";
	name_of[200] = "_Z4normPf";
	r = kernels_get(handle(100));
	assert_non_null(r);
	assert_string_equal(r->k.name, "_Z3addPfS_");
	assert_int_equal(r->k.nparam, 3);
	assert_int_equal(r->k.param[1].offset, 8);
	assert_int_equal(r->k.param[1].bytes, 4);
	assert_int_equal(r->k.param_bytes, 24);
	assert_null(r->image);
	queries = 0;
	assert_ptr_equal(kernels_get(handle(100)), r);
	assert_int_equal(queries, 0);
	r = kernels_get(handle(200)); /* a CUkernel */
	assert_string_equal(r->k.name, "_Z4normPf");
	assert_int_equal(r->k.nparam, 3);
	assert_null(kernels_get(handle(101))); /* no name */
	assert_null(kernels_get(NULL));
	name_of[101] = "later";
	assert_string_equal(kernels_get(handle(101))->k.name, "later");
}

static void reused(void **state)
{
	struct kernel_rec *old, *other, *now;

	name_of[110] = "before";
	name_of[210] = "kept";
	assert_null(kernels_peek(handle(110)));
	assert_null(kernels_peek(NULL));
	old = kernels_get(handle(110));
	assert_ptr_equal(kernels_peek(handle(110)), old);
	other = kernels_get(handle(210));
	kernels_forget((void *)10);
	assert_null(kernels_peek(handle(110)));
	name_of[110] = "after";
	now = kernels_get(handle(110));
	assert_ptr_not_equal(now, old);
	assert_string_equal(now->k.name, "after");
	assert_string_equal(old->k.name, "before"); /* old records stay readable */
	assert_ptr_equal(kernels_get(handle(210)), other);
	kernels_forget(NULL);
	assert_ptr_not_equal(kernels_get(handle(210)), other);
}

static void count(void *arg, const struct kernel_rec *r)
{
	*(int *)arg += !strncmp(r->k.name, "many", 4);
}

static void *many_thread(void *arg)
{
	for (int round = 0; round < 200; round++)
		for (int i = 0; i < 90; i++) {
			struct kernel_rec *r = kernels_get(handle(300 + (uintptr_t)i));

			if (!r || strcmp(r->k.name, name_of[300 + i]))
				return "wrong record";
		}
	return NULL;
}

static void many(void **state)
{
	static char names[90][16];
	pthread_t t[4];
	void *wrong;
	int n = 0;

	for (int i = 0; i < 90; i++) {
		snprintf(names[i], sizeof(names[i]), "many%d", i);
		name_of[300 + i] = names[i];
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, many_thread, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &wrong);
		assert_null(wrong);
	}
	kernels_each(count, &n);
	assert_int_equal(n, 90); /* one each, whoever was first */
}

/* An ELF file with one symbol table, enough for image_bytes and image_matters. */
struct cubin {
	Elf64_Ehdr h;
	Elf64_Shdr s[3];
	Elf64_Sym sym[2];
	char str[32];
};

static struct cubin cubin(const char *kernel)
{
	struct cubin c;

	memset(&c, 0, sizeof(c));
	memcpy(c.h.e_ident, ELFMAG, SELFMAG);
	c.h.e_ident[EI_CLASS] = ELFCLASS64;
	c.h.e_shoff = offsetof(struct cubin, s);
	c.h.e_shnum = 3;
	c.h.e_shentsize = sizeof(Elf64_Shdr);
	c.s[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
			      .sh_link = 2,
			      .sh_offset = offsetof(struct cubin, sym),
			      .sh_size = sizeof(c.sym)};
	c.s[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
			      .sh_offset = offsetof(struct cubin, str),
			      .sh_size = sizeof(c.str)};
	c.sym[1] = (Elf64_Sym){.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)};
	snprintf(c.str + 1, sizeof(c.str) - 1, "%s", kernel);
	return c;
}

static const struct image *loaded(uintptr_t owner)
{
	const void *library;

	return images_of((void *)owner, &library);
}

static void in_memory(void **state)
{
	struct cubin c = cubin("my_add"), other = cubin("nothing");
	char path[64], back[sizeof(c)];
	struct image *img;
	uint64_t offset = 99;
	int fd;

	images_load_data((void *)30, &c);
	images_load_data((void *)31, &other);
	img = (struct image *)loaded(30);
	assert_non_null(img);
	assert_null(img->file);
	assert_int_equal(img->bytes, sizeof(c));
	assert_non_null(img->copy);
	memset(&c.str, 'x', 8); /* the program's copy may go */
	assert_int_equal(images_identify(img), 0);
	assert_true(img->hash[0] && img->hash[1]);
	fd = images_file(img, path, sizeof(path), &offset);
	assert_true(fd >= 0);
	assert_int_equal(offset, 0);
	assert_int_equal(open(path, O_RDONLY) >= 0, 1);
	assert_int_equal(pread(fd, back, sizeof(back), 0), sizeof(back));
	assert_memory_equal(back, img->copy, sizeof(back));
	close(fd);
	/* No signature matches a kernel of the other one: no copy, no hash. */
	assert_null(loaded(31)->copy);
	assert_int_equal(images_identify((struct image *)loaded(31)), -1);
	assert_int_equal(images_file(loaded(31), path, sizeof(path), &offset), -2);
}

/* With images_keep_all every image can be found again by another process. */
static void saved(void **state)
{
	struct cubin c = cubin("nothing at all");
	char dir[] = "/tmp/test_kernels.XXXXXX", path[128], again[128], back[sizeof(c)];
	uint64_t offset = 99;
	int fd;

	assert_non_null(mkdtemp(dir));
	images_load_data((void *)40, &c);
	assert_int_equal(images_save(loaded(40), dir, path, sizeof(path), &offset), -1);
	images_keep_all = true;
	images_load_data((void *)41, &c);
	images_keep_all = false;
	assert_int_equal(images_save(loaded(41), dir, path, sizeof(path), &offset), 0);
	assert_int_equal(offset, 0);
	fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, back, sizeof(back), 0), sizeof(back));
	assert_memory_equal(back, &c, sizeof(back));
	close(fd);
	/* Each in a file of its own; a folder that is not there is no reason to fail loudly. */
	assert_int_equal(images_save(loaded(41), dir, again, sizeof(again), &offset), 0);
	assert_string_not_equal(path, again);
	assert_int_equal(images_save(loaded(41), "/nonexistent", back, sizeof(back), &offset), -1);
	unlink(path);
	unlink(again);
	assert_int_equal(rmdir(dir), 0);
}

static void ptx(void **state)
{
	char text[] = "//\n.version 8.0\n";

	images_load_data((void *)32, text);
	assert_int_equal(loaded(32)->bytes, sizeof(text)); /* with its NUL: it may hold anything */
	assert_non_null(loaded(32)->copy);
	assert_string_equal(loaded(32)->copy, text);
}

/* A fatbin as nvcc leaves it in a program: read-only data, found again by file and offset. */
static const struct {
	uint32_t magic;
	uint16_t version, header;
	uint64_t bytes;
	char payload[9000];
} fatbin = {0xba55ed50, 1, 16, 9000, "payload"};
static const struct {
	uint32_t magic, version;
	const void *data, *unused;
} wrapper = {0x466243b1, 1, &fatbin, NULL};

static void in_file(void **state)
{
	char path[4096];
	char *back = malloc(sizeof(fatbin));
	uint64_t offset = 0;
	struct image *img;
	int fd;

	images_load_data((void *)33, &wrapper);
	img = (struct image *)loaded(33);
	assert_non_null(img->file);
	assert_null(img->copy);
	assert_int_equal(img->bytes, 9016);
	assert_int_equal(images_identify(img), 0);
	assert_int_equal(images_file(img, path, sizeof(path), &offset), -1);
	fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, back, 9016, (off_t)offset), 9016);
	assert_int_equal(images_save(img, "/nonexistent", path, sizeof(path), &offset), 0);
	assert_int_equal(pread(fd, back, 9016, (off_t)offset), 9016);
	assert_memory_equal(back, &fatbin, 9016);
	close(fd);
	free(back);
}

static void changed_file(void **state)
{
	char path[] = "/tmp/test_kernels.XXXXXX", other[4096];
	int fd = mkstemp(path);
	struct image *img;
	uint64_t offset;

	assert_int_equal(write(fd, "image", 5), 5);
	images_load_file((void *)34, path);
	img = (struct image *)loaded(34);
	assert_int_equal(img->bytes, 5);
	assert_int_equal(images_file(img, other, sizeof(other), &offset), -1);
	assert_int_equal(write(fd, "more", 4), 4);
	assert_int_equal(images_identify(img), -1); /* no longer what was loaded */
	assert_int_equal(images_file(img, other, sizeof(other), &offset), -2);
	close(fd);
	unlink(path);
}

static void owners(void **state)
{
	struct cubin c = cubin("my_add");
	struct image *img;
	const void *library;

	images_load_data((void *)20, &c);
	images_load_part((void *)10, (void *)20); /* module 10 shows kernels of library 20 */
	img = images_of((void *)10, &library);
	assert_non_null(img);
	assert_ptr_equal(library, (void *)20);
	name_of[120] = "part";
	kernels_forget(NULL);
	assert_ptr_equal(kernels_get(handle(120))->image, img);
	kernels_forget((void *)20); /* unloading the library ends its module's functions */
	name_of[120] = "other";
	assert_string_equal(kernels_get(handle(120))->k.name, "other");
	assert_ptr_equal(images_unload((void *)20), img);
	assert_null(images_of((void *)10, &library));
	images_unloaded((void *)20, img, false); /* the driver refused */
	assert_ptr_equal(images_of((void *)20, &library), img);
	images_unloaded((void *)20, images_unload((void *)20), true);
	assert_null(images_of((void *)20, &library));
	assert_int_equal(img->bytes, sizeof(c)); /* a record points to it: it stays */
}

/* Bytes of an image that nobody can want any more are not kept, however often it is loaded. */
static void copies(void **state)
{
	struct cubin c = cubin("my_add");
	struct image *first, *second;
	const void *library;

	images_load_data((void *)50, &c);
	first = images_of((void *)50, &library);
	assert_non_null(first->copy);
	images_load_data((void *)50, &c); /* its context has gone, and the handle came again */
	second = images_of((void *)50, &library);
	assert_ptr_not_equal(first, second);
	assert_null(first->copy);
	images_need(second);
	images_load_part((void *)51, (void *)50);
	images_unloaded((void *)51, images_unload((void *)51), true);
	assert_ptr_equal(images_of((void *)50, &library), second);
	images_unloaded((void *)50, images_unload((void *)50), true);
	assert_non_null(second->copy); /* for a probe */
	images_load_data((void *)52, &c);
	first = images_of((void *)52, &library);
	images_load_data((void *)52, "nothing that is known"); /* the handle came again */
	assert_null(images_of((void *)52, &library));
	assert_null(first->copy);
}

static bool count_object(void *arg, const struct elf *o)
{
	++*(int *)arg;
	return false;
}

static void elf_objects(void **state)
{
	int n = 0;
	struct elf o;

	elf_each(count_object, &n);
	assert_true(n >= 2);
	assert_true(elf_at((void *)elf_each, &o));
	assert_true(o.lo <= (uintptr_t)elf_each && (uintptr_t)elf_each < o.hi);
	assert_true(elf_at((void *)strlen, &o)); /* somewhere in libc */
	assert_ptr_equal(elf_symbol(&o, "getpid"), getpid);
	assert_non_null(strstr(elf_name(&o, (void *)getpid), "getpid")); /* or __getpid */
	assert_null(elf_symbol(&o, "no_such_function_anywhere"));
	assert_false(elf_at((void *)16, &o));
}

static int signatures(void **state)
{
	struct config c;

	config_load(&c, false);
	config_add_text(
		&c, "test",
		"[kernel a]\nmatch = my_add\nop = add\nargs = out in0 in1 n\ndtype = f32\n");
	return sig_compile(&c) || !sig_matches("my_add");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(records),   cmocka_unit_test(reused),       cmocka_unit_test(many),
	cmocka_unit_test(in_memory), cmocka_unit_test(saved),        cmocka_unit_test(ptx),
	cmocka_unit_test(in_file),   cmocka_unit_test(changed_file), cmocka_unit_test(owners),
	cmocka_unit_test(copies),    cmocka_unit_test(elf_objects),
};

int main(void)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, signatures, NULL);
}
