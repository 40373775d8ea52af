/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/child.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/process.h"

/* Variables that would make the child something else than a plain program of its own. */
static const char *const dropped[] = {"LD_PRELOAD=",
				      "LD_AUDIT=",
				      "AUTOFUSE=",
				      "AUTOFUSE_RECORD=",
				      "AUTOFUSE_REPORT=",
				      "CUDA_INJECTION64_PATH=",
				      "NVTX_INJECTION64_PATH=",
				      "CUDA_LAUNCH_BLOCKING="};

char **child_environment(void)
{
	static char off[] = "AUTOFUSE=0";
	unsigned n = 0, out = 0;
	char **env;

	while (environ && environ[n])
		n++;
	env = calloc(n + 2, sizeof(*env));
	for (unsigned i = 0; env && i < n; i++) {
		bool drop = false;

		for (unsigned d = 0; d < sizeof(dropped) / sizeof(*dropped); d++)
			drop |= !strncmp(environ[i], dropped[d], strlen(dropped[d]));
		if (!drop)
			env[out++] = environ[i];
	}
	if (env)
		env[out] = off;
	return env;
}

int child_command(char *path, size_t size)
{
	static const char *const place[] = {"autofuse", "../bin/autofuse", "../../bin/autofuse"};
	const char *option = process.config.opt.probe_command;
	Dl_info self;
	const char *slash;

	if (option && option[0])
		return (size_t)snprintf(path, size, "%s", option) < size && !access(path, X_OK)
			       ? 0
			       : -1;
	if (!dladdr((void *)child_command, &self) || !self.dli_fname)
		return -1;
	slash = strrchr(self.dli_fname, '/');
	for (unsigned i = 0; i < sizeof(place) / sizeof(*place); i++) {
		int dir = slash ? (int)(slash - self.dli_fname + 1) : 0;

		if ((size_t)snprintf(path, size, "%.*s%s", dir, self.dli_fname, place[i]) < size &&
		    !access(path, X_OK))
			return 0;
	}
	return -1;
}
