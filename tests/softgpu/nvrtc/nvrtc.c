/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVRTC for the software GPU: the host compiler makes a companion library of the text, and the
 * image is that library behind a few bytes that the software GPU's driver knows (driver/image.cpp).
 * The text has to compile under device.h, and to name its kernels by SOFTGPU_KERNEL.
 *
 *   SOFTGPU_NVRTC_VERSION=12.4   version that it claims to be, 13.0 by default
 *   SOFTGPU_NVRTC_FAIL=N         result of every compilation (nvrtcResult), -1: it crashes
 *   SOFTGPU_NVRTC_LOG=FILE       a line for each compilation
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum { SUCCESS = 0, INVALID_INPUT = 3, COMPILATION = 6, BAD_PROGRAM = 4 };

struct program {
	char *text, *log, *image;
	size_t bytes;
};

static const int arch[] = {75, 80, 86, 89, 90, 100, 103, 120};
enum { ARCHES = sizeof(arch) / sizeof(*arch), HEAD = 24 };

EXPORT int nvrtcVersion(int *major, int *minor)
{
	const char *v = getenv("SOFTGPU_NVRTC_VERSION");

	*major = 13;
	*minor = 0;
	if (v)
		sscanf(v, "%d.%d", major, minor);
	return SUCCESS;
}

EXPORT const char *nvrtcGetErrorString(int rc)
{
	return rc == SUCCESS       ? "NVRTC_SUCCESS"
	       : rc == COMPILATION ? "NVRTC_ERROR_COMPILATION"
				   : "NVRTC_ERROR";
}

EXPORT int nvrtcGetNumSupportedArchs(int *n)
{
	*n = ARCHES;
	return SUCCESS;
}

EXPORT int nvrtcGetSupportedArchs(int *out)
{
	memcpy(out, arch, sizeof(arch));
	return SUCCESS;
}

EXPORT int nvrtcCreateProgram(void **out, const char *text, const char *name, int nheader,
			      const char *const *header, const char *const *include)
{
	struct program *p = calloc(1, sizeof(*p));

	p->text = strdup(text);
	*out = p;
	return nheader ? INVALID_INPUT : SUCCESS;
}

EXPORT int nvrtcDestroyProgram(void **prog)
{
	struct program *p = *prog;

	free(p->text);
	free(p->log);
	free(p->image);
	free(p);
	*prog = NULL;
	return SUCCESS;
}

static char *slurp(const char *path, size_t head, size_t *bytes)
{
	FILE *f = fopen(path, "rb");
	char *p = NULL;
	long n = -1;

	*bytes = 0;
	if (f && !fseek(f, 0, SEEK_END) && (n = ftell(f)) >= 0) {
		rewind(f);
		p = calloc(1, head + (size_t)n + 1);
		*bytes = fread(p + head, 1, (size_t)n, f);
	}
	if (f)
		fclose(f);
	return p;
}

EXPORT int nvrtcCompileProgram(void *prog, int noption, const char *const *option)
{
	const char *tmp = getenv("TMPDIR"), *fail = getenv("SOFTGPU_NVRTC_FAIL");
	const char *log = getenv("SOFTGPU_NVRTC_LOG");
	char dir[512], path[600], command[8192];
	struct program *p = prog;
	size_t bytes;
	FILE *f;
	int rc;

	if (log && (f = fopen(log, "a"))) {
		fprintf(f, "%s %zu\n", noption ? option[0] : "", strlen(p->text));
		fclose(f);
	}
	if (fail && atoi(fail) < 0)
		*(volatile int *)NULL = 0;
	if (fail)
		return atoi(fail);
	snprintf(dir, sizeof(dir), "%s/softgpu-nvrtc-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return BAD_PROGRAM;
	snprintf(path, sizeof(path), "%s/text.cpp", dir);
	f = fopen(path, "w");
	if (!f || fputs(p->text, f) < 0 || fclose(f))
		return BAD_PROGRAM;
	/* The command may be run under a shim: what it starts is none of the shim's business. */
	snprintf(command, sizeof(command),
		 "cd %s && env -u LD_PRELOAD %s -o text.so text.cpp %s >log 2>&1", dir,
		 SOFTGPU_NVRTC_COMPILER, SOFTGPU_NVRTC_LIBS);
	rc = system(command);
	snprintf(path, sizeof(path), "%s/log", dir);
	p->log = slurp(path, 0, &bytes);
	if (rc == 0) {
		uint64_t size;

		snprintf(path, sizeof(path), "%s/text.so", dir);
		p->image = slurp(path, HEAD, &bytes);
		size = bytes;
		memcpy(p->image, "softgpu-image\n\0", 16);
		memcpy(p->image + 16, &size, sizeof(size));
		p->bytes = HEAD + bytes;
	}
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command))
		return BAD_PROGRAM;
	return rc == 0 ? SUCCESS : COMPILATION;
}

EXPORT int nvrtcGetProgramLogSize(void *prog, size_t *bytes)
{
	struct program *p = prog;

	*bytes = p->log ? strlen(p->log) + 1 : 1;
	return SUCCESS;
}

EXPORT int nvrtcGetProgramLog(void *prog, char *log)
{
	struct program *p = prog;

	strcpy(log, p->log ? p->log : "");
	return SUCCESS;
}

EXPORT int nvrtcGetCUBINSize(void *prog, size_t *bytes)
{
	*bytes = ((struct program *)prog)->bytes;
	return *bytes ? SUCCESS : BAD_PROGRAM;
}

EXPORT int nvrtcGetCUBIN(void *prog, char *out)
{
	struct program *p = prog;

	memcpy(out, p->image, p->bytes);
	return SUCCESS;
}

EXPORT int nvrtcGetPTXSize(void *prog, size_t *bytes)
{
	return nvrtcGetCUBINSize(prog, bytes);
}

EXPORT int nvrtcGetPTX(void *prog, char *out)
{
	return nvrtcGetCUBIN(prog, out);
}
