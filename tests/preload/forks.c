/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children. Prints TAP; the driver may be any.
 * usage: forks before|after|commands
 *   before    forks, then parent and child both use the driver
 *   after     uses the driver, then forks; the child only asks for its version and leaves
 *   commands  runs other programs with the library preloaded into each
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/preload/owner.h"

static int use(void)
{
	int version = 0, count = 0;

	return cuInit(0) || cuDriverGetVersion(&version) || cuDeviceGetCount(&count);
}

/* Exit status of a child that runs fn, -1 if it does not end well within ten seconds. */
static int child(int (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		alarm(10);
		_exit(fn());
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int only_ask(void)
{
	int version;

	cuCtxSynchronize(); /* of no use in a child, but must come back */
	return cuDriverGetVersion(&version);
}

static int nested(void)
{
	return use() || child(only_ask);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "before")) {
		ok(child(use) == 0, "a child forked before the first call uses the driver");
		ok(child(nested) == 0, "a child of such a child leaves");
		ok(use() == 0, "the parent uses the driver, too");
	} else if (!strcmp(mode, "after")) {
		ok(use() == 0, "the parent uses the driver");
		for (int i = 0; i < 20; i++)
			if (child(only_ask) != 0)
				failures++;
		ok(!failures, "20 children forked after that come back from their calls and leave");
		ok(use() == 0, "the parent goes on");
	} else if (!strcmp(mode, "commands")) {
		FILE *p;
		char line[64] = "";

		for (int i = 0; i < 20; i++)
			failures += system("true") != 0;
		ok(!failures, "system()");
		p = popen("echo hello", "r");
		ok(p && fgets(line, sizeof(line), p) && !strcmp(line, "hello\n") && !pclose(p),
		   "popen()");
		ok(system("sh -c 'exit 7'") >> 8 == 7, "exit codes pass");
	} else {
		return 2;
	}
	return finished();
}
