// SPDX-License-Identifier: Apache-2.0
#include "tools/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tools/commands.h"

static bool regular(const char *path, struct stat *st)
{
	return !stat(path, st) && S_ISREG(st->st_mode);
}

/* execvp's search. 0, or the errno of the best candidate. */
static int find(const char *name, char *path, unsigned size)
{
	const char *list = getenv("PATH");
	int best = ENOENT;
	struct stat st;

	if (strchr(name, '/')) {
		snprintf(path, size, "%s", name);
		if (stat(path, &st))
			return errno;
		return !S_ISREG(st.st_mode) ? EACCES : access(path, X_OK) ? errno : 0;
	}
	for (const char *p = list ? list : "/bin:/usr/bin"; *name; p++) {
		size_t len = strcspn(p, ":");

		snprintf(path, size, "%.*s%s%s", (int)len, p, len ? "/" : "", name);
		if (regular(path, &st)) {
			if (!access(path, X_OK))
				return 0;
			best = EACCES;
		}
		p += len;
		if (!*p)
			break;
	}
	return best;
}

/* Would the kernel clear LD_PRELOAD for this file (AT_SECURE)? */
static bool privileged(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	if ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
	    (st.st_mode & S_ISGID && st.st_gid != getegid()))
		return true;
	return geteuid() && getxattr(path, "security.capability", NULL, 0) > 0;
}

/* What is wrong with this ELF file for us, or NULL. */
static const char *elf_fault(const unsigned char *head, size_t n, int fd)
{
	Elf64_Ehdr eh;
	bool interpreter = false;

	if (n < sizeof(eh) || head[EI_CLASS] != ELFCLASS64)
		return "is no 64-bit program";
	memcpy(&eh, head, sizeof(eh));
	for (unsigned i = 0; i < eh.e_phnum && eh.e_phentsize == sizeof(Elf64_Phdr); i++) {
		Elf64_Phdr ph;

		if (pread(fd, &ph, sizeof(ph), (off_t)(eh.e_phoff + i * sizeof(ph))) !=
		    (ssize_t)sizeof(ph))
			return "is a damaged program";
		interpreter |= ph.p_type == PT_INTERP;
	}
	return interpreter ? NULL : "is statically linked: nothing can be preloaded into it";
}

/* The interpreter that a #! line names, if the file is a script. */
static bool script(const char *head, char *interpreter, unsigned size)
{
	size_t len;

	if (strncmp(head, "#!", 2))
		return false;
	head += 2 + strspn(head + 2, " \t");
	len = strcspn(head, " \t\r\n");
	snprintf(interpreter, size, "%.*s", (int)len, head);
	return true;
}

static int judge(const char *path, char *why, unsigned whysize, int depth)
{
	unsigned char head[256] = {0};
	char interpreter[PATH_MAX];
	const char *fault = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head) - 1, 0);

	if (privileged(path))
		fault = "is setuid, setgid or has capabilities: the system ignores LD_PRELOAD for "
			"it; run autofuse "
			"as the user it becomes, or run what it starts";
	else if (n >= SELFMAG && !memcmp(head, ELFMAG, SELFMAG))
		fault = elf_fault(head, (size_t)n, fd);
	if (fd >= 0)
		close(fd);
	if (fault) {
		snprintf(why, whysize, "%s %s", path, fault);
		return EXIT_NOT_RUN;
	}
	/* A file that cannot be read, or of a kind we do not know, is the kernel's to judge. */
	if (n > 2 && depth && script((char *)head, interpreter, sizeof(interpreter))) {
		struct stat st;

		if (regular(interpreter, &st))
			return judge(interpreter, why, whysize, depth - 1);
		snprintf(why, whysize, "%s wants the interpreter %s, which is not there", path,
			 interpreter);
		return EXIT_NOT_RUN;
	}
	return 0;
}

int program_check(const char *name, char *path, unsigned size, char *why, unsigned whysize)
{
	int err = find(name, path, size);

	if (err == ENOENT || err == ENOTDIR) {
		snprintf(why, whysize, "there is no program %s", name);
		return EXIT_NOT_FOUND;
	}
	if (err) {
		snprintf(why, whysize, "%s cannot be run: %s", path, strerror(err));
		return EXIT_NOT_RUN;
	}
	return judge(path, why, whysize, 4);
}

void program_own_directory(char *dir, unsigned size)
{
	ssize_t n = readlink("/proc/self/exe", dir, size - 1);
	char *slash;

	dir[n > 0 ? n : 0] = 0;
	slash = strrchr(dir, '/');
	if (slash)
		*slash = 0;
	else
		*dir = 0;
}
