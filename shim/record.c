/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/record.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/log.h"
#include "shim/finish.h"
#include "shim/hot.h"
#include "shim/memory.h"
#include "shim/ours.h"
#include "shim/process.h"
#include "shim/record_code.h"
#include "shim/record_file.h"
#include "shim/report.h"
#include "shim/times.h"
#include "shim/window.h"

enum { STREAMS_MAX = 64 };

HOT bool record_on;
HOT unsigned record_ahead;

static struct {
	pthread_mutex_t lock; /* guards what follows */
	struct record_file file;
	uint64_t launches;
	CUstream stream[STREAMS_MAX]; /* created streams already announced */
	unsigned nstream;
} rec = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = {.fd = -1}};

static void put(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(rec.file.at + rec.file.used, rec.file.size - rec.file.used, fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < rec.file.size - rec.file.used)
		rec.file.used += (size_t)n;
}

/* One line at a time; a line that cannot fit the reserve is impossible (32 KB of parameters). */
static bool begin(void)
{
	pthread_mutex_lock(&rec.lock);
	if (record_file_room(&rec.file))
		return true;
	pthread_mutex_unlock(&rec.lock);
	return false;
}

static void end(void)
{
	put("}\n");
	pthread_mutex_unlock(&rec.lock);
}

static void put_string(const char *s)
{
	put("\"");
	for (; *s; s++)
		if ((unsigned char)*s >= 0x20)
			put("%s%c", *s == '"' || *s == '\\' ? "\\" : "", *s);
	put("\"");
}

static void put_hex(const uint8_t *p, size_t n)
{
	static const char digit[] = "0123456789abcdef";

	if (rec.file.size - rec.file.used < 2 * n)
		return;
	for (size_t i = 0; i < n; i++) {
		rec.file.at[rec.file.used++] = digit[p[i] >> 4];
		rec.file.at[rec.file.used++] = digit[p[i] & 15];
	}
}

/* The stream as plan tells them apart: the per-thread stream is 0x2 whatever way it was named. */
static void put_stream(CUstream stream, bool ptsz)
{
	uintptr_t s = (uintptr_t)stream;

	put(",\"st\":\"0x%" PRIxPTR "\"", !s && ptsz ? 2 : s == 1 ? 0 : s);
}

/*
 * A created stream's first launch: say whether the default stream orders itself against it. Not
 * while it captures: asking for its flags then spoils the capture (H200, driver 580).
 */
static void announce(CUstream stream, uint64_t context)
{
	CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
	unsigned flags = 0;

	if ((uintptr_t)stream <= (uintptr_t)CU_STREAM_PER_THREAD)
		return;
	for (unsigned i = 0; i < rec.nstream; i++)
		if (rec.stream[i] == stream)
			return;
	if (rec.nstream == STREAMS_MAX || real.cuStreamIsCapturing(stream, &capturing) ||
	    capturing != CU_STREAM_CAPTURE_STATUS_NONE || real.cuStreamGetFlags(stream, &flags))
		return;
	rec.stream[rec.nstream++] = stream;
	if (!(flags & CU_STREAM_NON_BLOCKING))
		return;
	put("{\"k\":\"stream\",\"t\":%d", (int)gettid());
	put_stream(stream, false);
	put(",\"ctx\":%" PRIu64 ",\"flags\":1}\n", context);
}

void record_start(void)
{
	const char *option = process.config.opt.record;
	char path[4096];

	if (!option || !option[0])
		return;
	errno = ENAMETOOLONG;
	if (!report_path(option, path, sizeof(path)) ||
	    !record_file_open(&rec.file, path, process.config.opt.times)) {
		log_warn("cannot record to %s: %s", option,
			 errno == EBUSY   ? "another process records there; use %p"
			 : errno == ENXIO ? "nobody reads it"
					  : strerror(errno));
		return;
	}
	put("{\"k\":\"version\",\"v\":1}\n");
	images_keep_all = process.config.opt.images && process.config.opt.images[0];
	record_on = true;
	finish_arm_recording();
	__atomic_add_fetch(&window_watch, 1, __ATOMIC_SEQ_CST);
}

void record_stop(void)
{
	if (!record_on)
		return;
	times_stop();
	pthread_mutex_lock(&rec.lock);
	record_file_close(&rec.file);
	pthread_mutex_unlock(&rec.lock);
}

uint64_t record_launch(const struct launch *l, const struct kernel_rec *r, bool ex, unsigned nattr,
		       const void *params, size_t bytes)
{
	const struct ours *o = ours_get(NULL);
	uint64_t index;
	struct record_code code;

	record_code_find(r, &code);
	if (!begin())
		return l->index;
	announce((CUstream)(uintptr_t)l->stream, o ? o->generation : 0);
	index = rec.launches++;
	put("{\"k\":\"%s\",\"t\":%d,\"f\":", ex ? "lx" : "l", (int)gettid());
	put_string(r ? r->k.name : "?");
	put(",\"g\":[%u,%u,%u],\"b\":[%u,%u,%u],\"sm\":%u", l->grid[0], l->grid[1], l->grid[2],
	    l->block[0], l->block[1], l->block[2], l->shmem);
	put_stream((CUstream)(uintptr_t)l->stream, false);
	put(",\"na\":%u,\"attrs\":%u", nattr, l->attrs);
	if (o)
		put(",\"ctx\":%" PRIu64 ",\"dev\":%d", o->generation, o->device);
	if (r && (r->k.image[0] || r->k.image[1]))
		put(",\"img\":\"%016" PRIx64 "%016" PRIx64 "\"", r->k.image[0], r->k.image[1]);
	if (code.path[0]) {
		put(",\"code\":[");
		put_string(code.path);
		put(",%" PRIu64 ",%" PRIu64 "]", code.offset, r->image->bytes);
	}
	if (l->priority)
		put(",\"prio\":%d", l->priority);
	if (l->params && r) {
		put(",\"p\":[");
		for (uint32_t i = 0; i < r->k.nparam; i++) {
			put("%s[%u,%u,\"", i ? "," : "", r->k.param[i].offset, r->k.param[i].bytes);
			put_hex(l->params + r->k.param[i].offset, r->k.param[i].bytes);
			put("\"]");
		}
		put("]");
	} else if (params && bytes && bytes < RECORD_LINE / 4) {
		put(",\"x\":[%zu,\"", bytes);
		put_hex(params, bytes);
		put("\"]");
	}
	end();
	return index;
}

void record_call(unsigned call, bool has_stream, CUstream stream, bool ptsz)
{
	if (!record_on || !begin())
		return;
	put("{\"k\":\"a\",\"t\":%d,\"f\":\"%s\"", (int)gettid(), driver_name(call));
	if (has_stream)
		put_stream(stream, ptsz);
	end();
}

void record_range_call(unsigned call, CUstream stream, bool ptsz, uint64_t base, uint64_t bytes)
{
	if (!record_on || !begin())
		return;
	put("{\"k\":\"a\",\"t\":%d,\"f\":\"%s\"", (int)gettid(), driver_name(call));
	put_stream(stream, ptsz);
	put(",\"lo\":\"0x%" PRIx64 "\",\"hi\":\"0x%" PRIx64 "\"", base, base + bytes);
	end();
}

void record_timer(CUstream stream, uint64_t context)
{
	if (!record_on || !begin())
		return;
	put("{\"k\":\"timer\",\"t\":%d", (int)gettid());
	put_stream(stream, false);
	put(",\"ctx\":%" PRIu64, context);
	end();
}

void record_alloc(uint64_t base, uint64_t bytes, int device, unsigned flags)
{
	if (!record_on || !begin())
		return;
	put("{\"k\":\"alloc\",\"lo\":\"0x%" PRIx64 "\",\"hi\":\"0x%" PRIx64
	    "\",\"dev\":%d,\"flags\":%u",
	    base, base + bytes, device, flags);
	end();
}

void record_free(uint64_t base, uint64_t bytes)
{
	if (!record_on || !begin())
		return;
	put("{\"k\":\"free\",\"lo\":\"0x%" PRIx64 "\",\"hi\":\"0x%" PRIx64 "\"", base,
	    base + bytes);
	end();
}

void record_lines(const char *text, size_t bytes)
{
	if (!record_on)
		return;
	pthread_mutex_lock(&rec.lock);
	while (bytes && record_file_room(&rec.file)) {
		const char *newline = memchr(text, '\n', bytes);
		size_t n = newline ? (size_t)(newline - text) + 1 : bytes;

		if (n > rec.file.size - rec.file.used)
			break;
		memcpy(rec.file.at + rec.file.used, text, n);
		rec.file.used += n;
		text += n;
		bytes -= n;
	}
	pthread_mutex_unlock(&rec.lock);
}

static void put_launches(const uint64_t *launch, unsigned n)
{
	put(",\"n\":[");
	for (unsigned i = 0; i < n; i++)
		put("%s%" PRIu64, i ? "," : "", launch[i]);
	put("]");
}

void record_group(const struct group *g, bool fused, bool checked, enum reason why)
{
	uint64_t launch[GROUP_MAX_MEMBERS];

	if (!record_on || !begin())
		return;
	for (unsigned i = 0; i < group_size(g); i++)
		launch[i] = g->member[i]->launch.index;
	put("{\"k\":\"g\",\"f\":\"%s\",\"is\":\"%s\"", g->pattern->name,
	    !fused    ? "refused"
	    : checked ? "checked"
		      : "fused");
	if (!fused)
		put(",\"why\":\"%s\"", reason_word(why));
	put_launches(launch, group_size(g));
	end();
}

void record_sent(uint32_t id, const struct record_sent *s)
{
	if (!begin())
		return;
	put("{\"k\":\"c\",\"id\":%u,\"how\":\"%s\"", id, s->how);
	put_launches(s->launch, s->n);
	if (s->key)
		put(",\"key\":\"%016" PRIx64 "%016" PRIx64 "\",\"rows\":%" PRId64, s->key->hash[0],
		    s->key->hash[1], s->rows);
	if (s->second)
		put(",\"second\":%u", s->second);
	end();
}

void record_ran(uint32_t id, uint64_t at, uint64_t ns, const char *in_graph)
{
	if (!begin())
		return;
	put("{\"k\":\"t\",\"id\":%u,\"at\":%" PRIu64 ",\"ns\":%" PRIu64, id, at, ns);
	if (in_graph) {
		put(",\"graph\":true,\"f\":");
		put_string(in_graph);
	}
	end();
}

void record_clock(unsigned version, const char *why_not)
{
	if (!begin())
		return;
	put("{\"k\":\"times\",\"cupti\":%u", version);
	if (why_not) {
		put(",\"f\":");
		put_string(why_not);
	}
	end();
}
