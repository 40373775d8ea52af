// SPDX-License-Identifier: Apache-2.0
#include "tools/trace_app.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "config/log.h"
#include "tools/commands.h"
#include "tools/program.h"
#include "tools/status.h"
#include "tools/preload.h"

#define IMAGES "images" /* the folder of code that is in no other file */

enum { TICK_MS = 20, COPY = 1 << 16, PAD_LOOK = 4096 };

static volatile sig_atomic_t interrupts;
static volatile sig_atomic_t child;

/* A terminal sends the signal to the program, too; somebody's kill does not. */
static void forward(int sig, siginfo_t *info, void *context)
{
	int err = errno;

	interrupts++;
	if (child > 0 && interrupts > 1)
		kill(child, SIGKILL);
	else if (child > 0 && info->si_code <= 0)
		kill(child, sig);
	errno = err;
}

static const int handled[] = {SIGINT, SIGTERM};

static void handle_signals(bool ours)
{
	struct sigaction sa = {.sa_flags = SA_SIGINFO | SA_RESTART};

	if (ours)
		sa.sa_sigaction = forward;
	else
		sa = (struct sigaction){.sa_handler = SIG_DFL};
	for (unsigned i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		sigaction(handled[i], &sa, NULL);
}

static int prepare(struct trace_app *a, char **argv, char *path, unsigned size, bool images)
{
	const char *tmp = getenv("TMPDIR");
	char why[2 * PATH_MAX], record[4352];

	a->status = program_check(argv[0], path, size, why, sizeof(why));
	if (a->status) {
		log_warn("%s", why);
		return -1;
	}
	a->status = EXIT_FAILED;
	snprintf(a->dir, sizeof(a->dir), "%s/autofuse-trace-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(a->dir)) {
		log_warn("%s: %m", a->dir);
		a->dir[0] = 0;
		return -1;
	}
	snprintf(record, sizeof(record), "%s/" IMAGES, a->dir);
	if (images && (mkdir(record, 0700) || setenv("AUTOFUSE_IMAGES", record, 1)))
		return -1;
	snprintf(record, sizeof(record), "%s/%%p.jsonl", a->dir);
	/* Times need both forms of a group: one in four runs its own launches beside ours. */
	if (setenv("AUTOFUSE_RECORD", record, 1) || setenv("AUTOFUSE_TIMES", "1", 1) ||
	    setenv("AUTOFUSE_SAMPLE_EVERY", "4", 0))
		return -1;
	return preload_set();
}

static uint64_t recorded(const char *dir)
{
	struct dirent *e;
	struct stat st;
	uint64_t bytes = 0;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && !fstatat(dirfd(d), e->d_name, &st, 0))
			bytes += (uint64_t)st.st_size;
	if (d)
		closedir(d);
	return bytes;
}

static int wait_for(const struct trace_app *a)
{
	const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
	struct status say;
	int status = 0;
	pid_t got;

	status_start(&say, true);
	while (!(got = waitpid(child, &status, WNOHANG)) || (got < 0 && errno == EINTR)) {
		nanosleep(&tick, NULL);
		if (say.on)
			status_say(&say, "recording: %.1f MiB, Ctrl-C ends it",
				   (double)recorded(a->dir) / (1 << 20));
	}
	status_end(&say);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Cuts what is no whole line: a process that was killed leaves its last page padded. */
static off_t trim(const char *path, off_t size)
{
	char buf[PAD_LOOK];
	int fd = open(path, O_RDWR | O_CLOEXEC);
	off_t end = size;

	while (fd >= 0 && end > 0) {
		off_t from = end > PAD_LOOK ? end - PAD_LOOK : 0;
		ssize_t n = pread(fd, buf, (size_t)(end - from), from);

		if (n <= 0)
			break;
		while (n > 0 && buf[n - 1] != '\n')
			n--;
		end = from + n;
		if (n)
			break;
	}
	if (fd >= 0 && end != size && ftruncate(fd, end))
		end = size;
	if (fd >= 0)
		close(fd);
	return end;
}

static int larger(const void *x, const void *y)
{
	struct stat a, b;

	if (stat(x, &a) || stat(y, &b))
		return 0;
	return a.st_size < b.st_size ? 1 : a.st_size > b.st_size ? -1 : strcmp(x, y);
}

static void collect(struct trace_app *a)
{
	DIR *d = opendir(a->dir);
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d))) {
		void *grown;

		if (e->d_name[0] == '.' || !strcmp(e->d_name, IMAGES))
			continue;
		grown = realloc(a->file, (a->nfile + 1) * sizeof(*a->file));
		if (!grown)
			break;
		a->file = grown;
		snprintf(a->file[a->nfile], sizeof(*a->file), "%s/%.255s", a->dir, e->d_name);
		if (!stat(a->file[a->nfile], &st) && trim(a->file[a->nfile], st.st_size) > 0)
			a->nfile++;
		else
			unlink(a->file[a->nfile]);
	}
	if (d)
		closedir(d);
	if (a->nfile)
		qsort(a->file, a->nfile, sizeof(*a->file), larger);
}

int trace_app_run(struct trace_app *a, char **argv, bool stdout_to_stderr, bool images)
{
	char path[PATH_MAX];
	pid_t pid;

	memset(a, 0, sizeof(*a));
	if (prepare(a, argv, path, sizeof(path), images))
		return -1;
	fflush(stdout);
	interrupts = 0;
	handle_signals(true);
	pid = fork();
	if (!pid) {
		handle_signals(false);
		if (stdout_to_stderr)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(path, argv);
		log_warn("%s cannot be run: %m", path);
		_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
	}
	if (pid < 0) {
		log_warn("no process can be made: %m");
		return -1;
	}
	child = pid;
	a->status = wait_for(a);
	child = 0;
	a->interrupted = interrupts > 0;
	handle_signals(false);
	collect(a);
	return 0;
}

long trace_app_pid(const char *file)
{
	const char *name = strrchr(file, '/');

	return name ? atol(name + 1) : 0;
}

int trace_app_keep(const char *file, const char *to)
{
	size_t len = strlen(to);
	bool gz = len > 3 && !strcmp(to + len - 3, ".gz");
	gzFile out = gzopen(to, gz ? "wbe" : "wbeT");
	FILE *in = fopen(file, "rbe");
	char buf[COPY];
	size_t n;
	int rc = in && out ? 0 : -1;

	while (!rc && (n = fread(buf, 1, sizeof(buf), in)))
		rc = gzwrite(out, buf, (unsigned)n) == (int)n ? 0 : -1;
	if (out && gzclose(out) != Z_OK)
		rc = -1;
	if (in)
		fclose(in);
	if (rc)
		log_warn("%s: %s", to, errno ? strerror(errno) : "cannot be written");
	return rc;
}

static void remove_images(const struct trace_app *a)
{
	char path[sizeof(a->dir) + sizeof(IMAGES) + 1];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%s/" IMAGES, a->dir);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

void trace_app_free(struct trace_app *a)
{
	for (unsigned i = 0; i < a->nfile; i++)
		unlink(a->file[i]);
	if (a->dir[0])
		remove_images(a);
	if (a->dir[0])
		rmdir(a->dir);
	free(a->file);
	memset(a, 0, sizeof(*a));
}
