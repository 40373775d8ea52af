// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/embedded.h"
#include "config/options.h"
#include "config/pipe.h"
#include "config/sections.h"

enum { FILE_MAX = 4 << 20 };

struct config_text {
	struct config_text *next;
	char text[];
};

const char *config_keep(struct config *c, const char *text)
{
	size_t size = strlen(text) + 1;
	struct config_text *t;

	if (c->text && !strcmp(c->text->text, text))
		return c->text->text; /* one string serves all lines of a file */
	t = malloc(sizeof(*t) + size);
	if (!t)
		return "?";
	memcpy(t->text, text, size);
	t->next = c->text;
	c->text = t;
	return t->text;
}

int config_set(struct config *c, const char *option, const char *value, const char *origin,
	       char *err, unsigned errsize)
{
	int id = option_find(option);

	if (id < 0) {
		int n = snprintf(err, errsize, "no option \"%.64s\"; there are", option);

		for (int i = 0; i < OPTION_COUNT && n > 0 && (unsigned)n < errsize; i++)
			n += snprintf(err + n, errsize - (unsigned)n, "%s %s", i ? "," : "",
				      option_row[i].name);
		return -1;
	}
	if (option_parse(&c->opt, id, value, err, errsize))
		return -1;
	if (c->origin)
		c->origin[id] = origin;
	if (id == OPTION_log)
		log_level = (enum log_level)c->opt.log;
	return 0;
}

unsigned config_add_text(struct config *c, const char *name, const char *text)
{
	return sections_read(c, name, text, strlen(text));
}

unsigned config_add_file(struct config *c, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = fd < 0 ? NULL : malloc(FILE_MAX);
	ssize_t size = text ? pipe_read_all(fd, text, FILE_MAX) : -1;
	unsigned errors = 1;
	struct stat st;

	if (size < 0)
		log_warn("%s: %s", path,
			 errno == EAGAIN ? "its writer does not write" : strerror(errno));
	else if (size == FILE_MAX)
		log_warn("%s: too long to be a configuration", path);
	else if (!size && !fstat(fd, &st) && S_ISFIFO(st.st_mode))
		log_warn("%s is a pipe that nobody writes to", path);
	else
		errors = 0;
	if (errors)
		c->errors++;
	else
		errors = sections_read(c, path, text, (size_t)size);
	free(text);
	if (fd >= 0)
		close(fd);
	return errors;
}

static void add_user_file(struct config *c)
{
	const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	bool xdg = base && *base == '/';
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s%s/autofuse/autofuse.ini",
			 xdg    ? base
			 : home ? home
				: "",
			 xdg ? "" : "/.config");

	if ((!xdg && !home) || n < 0 || n >= (int)sizeof(path))
		return;
	/* It need not be there. */
	if (!access(path, F_OK) || (errno != ENOENT && errno != ENOTDIR))
		config_add_file(c, path);
}

static void add_listed_files(struct config *c)
{
	const char *list = getenv("AUTOFUSE_CONFIG");

	while (list && *list) {
		size_t len = strcspn(list, ":");
		char *path = strndup(list, len);

		if (path && len)
			config_add_file(c, path);
		free(path);
		list += len + (list[len] == ':');
	}
}

static void add_environment(struct config *c)
{
	char err[512];

	for (int i = 0; i < OPTION_COUNT; i++) {
		const char *value = getenv(option_row[i].env);

		/* An empty variable empties a text, and says nothing of anything else. */
		if (!value || (!*value && !option_is_text(i)))
			continue;
		if (config_set(c, option_row[i].name, value, "environment", err, sizeof(err))) {
			log_warn("%s: %s", option_row[i].env, err);
			c->errors++;
		}
	}
}

void config_load(struct config *c, bool environ_ok)
{
	char err[512];

	memset(c, 0, sizeof(*c));
	c->kernel_tail = &c->kernel;
	c->pattern_tail = &c->pattern;
	c->origin = calloc(OPTION_COUNT, sizeof(*c->origin));
	for (int i = 0; i < OPTION_COUNT; i++)
		if (config_set(c, option_row[i].name, option_row[i].def, "default", err,
			       sizeof(err)))
			log_warn("%s", err); /* out of memory, or a slip in options.def */
	/* AUTOFUSE_LOG=quiet is also about what the files below have wrong. */
	if (environ_ok && getenv(option_row[OPTION_log].env))
		config_set(c, option_row[OPTION_log].name, getenv(option_row[OPTION_log].env),
			   "environment", err, sizeof(err));
	for (const struct embedded *e = embedded; e->name; e++)
		config_add_text(c, e->name, e->text);
	if (!environ_ok)
		return;
	add_user_file(c);
	add_listed_files(c);
	add_environment(c);
}

void config_free(struct config *c)
{
	sections_free(c);
	option_free_all(&c->opt);
	while (c->text) {
		struct config_text *t = c->text;

		c->text = t->next;
		free(t);
	}
	free(c->origin);
	memset(c, 0, sizeof(*c));
}
