// SPDX-License-Identifier: Apache-2.0
#include "tools/infer.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tools/names.h"
#include "tools/readable.h"
#include "tools/status.h"

enum { LABEL = 40 };

static int by_time(const void *a, const void *b)
{
	const struct infer_kernel *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->launches != y->launches)
		return x->launches < y->launches ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void add_times(struct inferred *f, const struct listing *l)
{
	for (unsigned i = 0; i < f->n; i++)
		for (uint32_t k = 0; k < l->nkernel; k++)
			if (!strcmp(f->kernel[i].name, l->kernel[k].k->name))
				f->kernel[i].ns += l->kernel[k].ns;
	if (f->n)
		qsort(f->kernel, f->n, sizeof(*f->kernel), by_time);
}

static bool taken(const struct inferred *f, unsigned n, const struct config *c, const char *label)
{
	char line[LABEL + 16];

	for (const struct config_kernel *k = c->kernel; k; k = k->next)
		if (!strcmp(k->label, label))
			return true;
	snprintf(line, sizeof(line), "[kernel %s]\n", label);
	for (unsigned i = 0; i < n; i++)
		if (f->kernel[i].section && !strncmp(f->kernel[i].section, line, strlen(line)))
			return true;
	return false;
}

/* Name and element type, and a number where that is somebody else's. */
static void label_of(const struct inferred *f, unsigned n, const struct config *c, char *label)
{
	const struct infer_kernel *k = &f->kernel[n];
	const char *type = strstr(k->section, "dtype = ");
	char *readable = readable_name(k->name), base[24] = "kernel";

	if (readable)
		readable_base(readable, base, sizeof(base));
	free(readable);
	for (char *p = base; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			*p = '_';
	for (unsigned i = 1; i == 1 || (taken(f, n, c, label) && i < 100); i++)
		snprintf(label, LABEL, i > 1 ? "%s %.*s %u" : "%s %.*s", base,
			 type ? (int)strcspn(type + 8, "\n") : 0, type ? type + 8 : "", i);
}

/* Puts label and name before the lines that the child found. */
static void complete(struct inferred *f, unsigned n, const struct config *c)
{
	struct infer_kernel *k = &f->kernel[n];
	char label[LABEL], *whole = NULL;

	label_of(f, n, c, label);
	if (asprintf(&whole, "[kernel %s]\nmatch = %s\n%s", label, k->name, k->section) < 0)
		whole = NULL;
	free(k->section);
	k->section = whole;
	f->found += whole != NULL;
}

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	stopped = 1;
}

/* Ctrl-C ends the probing, not this command, which has files to remove. */
static void handle_signals(bool ours, struct sigaction old[2])
{
	static const int handled[] = {SIGINT, SIGTERM};
	struct sigaction sa = {.sa_handler = stop, .sa_flags = SA_RESTART};

	for (unsigned i = 0; i < 2; i++)
		sigaction(handled[i], ours ? &sa : &old[i], ours ? &old[i] : NULL);
}

static void say_stopped(struct infer_kernel *k)
{
	if (!k->section)
		snprintf(k->reason, sizeof(k->reason), "the probe was interrupted");
}

/* Is there anything to ask about it? Else its reason says why not. */
static bool can_ask(struct infer_kernel *k, unsigned asked)
{
	if (k->reason[0])
		return false;
	if (k->file && k->nseen && asked < INFER_MOST)
		return true;
	if (asked >= INFER_MOST)
		snprintf(k->reason, sizeof(k->reason), "%u others take more time; not probed",
			 INFER_MOST);
	else
		snprintf(k->reason, sizeof(k->reason), "%s",
			 k->file ? "no launch of it can be shown to the probe"
				 : "its code cannot be found again");
	return false;
}

static void finish(struct inferred *f, struct infer_asked *a, const struct config *c)
{
	infer_finish(a);
	if (stopped)
		say_stopped(a->kernel);
	if (a->kernel->section)
		complete(f, (unsigned)(a->kernel - f->kernel), c);
}

/* A few at a time; their answers in order. */
static void probe(struct inferred *f, const struct config *c)
{
	struct infer_asked ring[INFER_ABREAST];
	unsigned asked = 0, done = 0;
	struct sigaction old[2];
	struct status say;

	stopped = 0;
	handle_signals(true, old);
	status_start(&say, true);
	for (unsigned i = 0; i < f->n; i++) {
		if (stopped && !f->kernel[i].reason[0])
			say_stopped(&f->kernel[i]);
		status_say(&say, "probing kernel %u of %u", i + 1, f->n);
		if (!can_ask(&f->kernel[i], asked))
			continue;
		if (asked - done == INFER_ABREAST)
			finish(f, &ring[done++ % INFER_ABREAST], c);
		if (infer_start(&ring[asked % INFER_ABREAST], &f->kernel[i]))
			asked++;
		else
			snprintf(f->kernel[i].reason, sizeof(f->kernel[i].reason),
				 "no process can be made");
	}
	while (done < asked)
		finish(f, &ring[done++ % INFER_ABREAST], c);
	status_end(&say);
	handle_signals(false, old);
}

struct inferred *infer(const char *recording, const struct listing *l, const struct config *c)
{
	struct inferred *f = calloc(1, sizeof(*f));

	if (!f || infer_collect(f, recording)) {
		inferred_free(f);
		return NULL;
	}
	add_times(f, l);
	for (unsigned i = 0; i < f->n; i++)
		f->kernel[i].readable = name_readable(f->kernel[i].name);
	probe(f, c);
	return f;
}

void inferred_free(struct inferred *f)
{
	for (unsigned i = 0; f && i < f->n; i++) {
		free(f->kernel[i].name);
		free(f->kernel[i].readable);
		free(f->kernel[i].file);
		free(f->kernel[i].section);
	}
	if (f)
		free(f->kernel);
	free(f);
}
