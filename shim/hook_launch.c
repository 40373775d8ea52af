/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel launches, in every form the driver has. */
#include <string.h>

#include "matcher/decode.h"
#include "matcher/key.h"
#include "matcher/row_build.h"
#include "matcher/seq.h"
#include "shim/attributed.h"
#include "shim/budget.h"
#include "shim/control.h"
#include "shim/driver.h"
#include "shim/finish.h"
#include "shim/hot.h"
#include "shim/kernels.h"
#include "shim/outlook.h"
#include "shim/params.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/report.h"
#include "shim/times.h"
#include "shim/verdict.h"
#include "shim/window.h"
#include "shim/window_chain.h"
#include "shim/window_launch.h"

enum {
	PARAMS_MAX = 4096,  /* bytes of parameters a decoder ever looks at */
	DULL_AFTER = 1024,  /* launches of a kernel that led to nothing */
	DULL_LINK = 256,    /* of one that could be in chains only */
	DULL_LOOK = 17,     /* so many in a row are looked at then, of ... */
	DULL_PERIOD = 257,  /* so many: odd, as what loops do is mostly even */
	CAPTURED_LOOK = 64, /* launches of a kernel during captures that are looked at */
};

/* One launch as the program made it. `own` first: the window calls back with it. */
struct call {
	struct own_launch own;
	CUfunction f;
	unsigned grid[3], block[3], shmem;
	void **params, **extra;
	bool cooperative;
	const CUlaunchConfig *config; /* cuLaunchKernelEx */
	bool timed;                   /* recorded as launch `index`, with device times */
	uint64_t index;
};

static CUresult driver_launch(const struct call *c)
{
	const struct own_launch *own = &c->own;

	if (c->config)
		return (own->ptsz ? real.cuLaunchKernelEx_ptsz
				  : real.cuLaunchKernelEx)(c->config, c->f, c->params, c->extra);
	if (c->cooperative)
		return (own->ptsz ? real.cuLaunchCooperativeKernel_ptsz
				  : real.cuLaunchCooperativeKernel)(
			c->f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1],
			c->block[2], c->shmem, own->stream, c->params);
	return (own->ptsz ? real.cuLaunchKernel_ptsz : real.cuLaunchKernel)(
		c->f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2],
		c->shmem, own->stream, c->params, c->extra);
}

static CUresult send(const struct own_launch *own)
{
	const struct call *c = (const struct call *)own;
	CUresult r;

	if (!c->timed)
		return driver_launch(c);
	times_before();
	r = driver_launch(c);
	times_after_own(c->index);
	return r;
}

static bool has_attributes(const struct call *c)
{
	return c->cooperative || (c->config && c->config->numAttrs);
}

/* Attributes that change nothing (a cluster of one, a flag that is off) count as absent. */
static uint32_t attributes(const struct call *c)
{
	uint32_t attrs = c->cooperative ? LAUNCH_COOPERATIVE : 0;

	for (unsigned i = 0; c->config && i < c->config->numAttrs; i++) {
		const CUlaunchAttribute *a = &c->config->attrs[i];

		switch (a->id) {
		case CU_LAUNCH_ATTRIBUTE_IGNORE:
			break;
		case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
			attrs |= a->value.cooperative ? LAUNCH_COOPERATIVE : 0;
			break;
		case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
			if (a->value.clusterDim.x > 1 || a->value.clusterDim.y > 1 ||
			    a->value.clusterDim.z > 1)
				attrs |= LAUNCH_CLUSTER;
			break;
		case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
			if (a->value.programmaticStreamSerializationAllowed)
				attrs |= LAUNCH_PROGRAMMATIC;
			break;
		case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
		case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
		case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		case CU_LAUNCH_ATTRIBUTE_PRIORITY:
		case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
		case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
		case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
			attrs |= LAUNCH_OTHER_ATTR;
			break;
		default: /* events, and what later drivers know: others may see the order by it */
			attrs |= LAUNCH_PROGRAMMATIC;
		}
	}
	return attrs;
}

/* The parameters as the kernel sees them: where the program has them, if there is but one, or
 * copied. None if they cannot be had whole. */
static void pack(const struct call *c, const struct kernel *k, uint8_t *out, struct launch *l)
{
	if (k->param_bytes > PARAMS_MAX || (c->params && c->extra))
		return;
	if (c->params && k->nparam == 1 && k->param[0].bytes == k->param_bytes)
		l->params = c->params[0];
	else if (params_pack(c->params, c->extra, k, out))
		l->params = out;
	if (l->params && !c->params)
		l->attrs |= LAUNCH_EXTRA;
}

static void record(struct call *c, const struct kernel_rec *rec, struct launch *l)
{
	struct launch copy = *l;
	const void *params = NULL;
	size_t bytes = 0;

	if (!l->params && c->extra && !c->params) {
		params = params_extra(c->extra, &bytes);
		copy.attrs |= LAUNCH_EXTRA;
	}
	copy.stream = !c->own.stream && c->own.ptsz ? 2 : (uintptr_t)c->own.stream;
	l->index = record_launch(&copy, rec, c->config != NULL, c->config ? c->config->numAttrs : 0,
				 params, bytes);
	c->timed = times_on;
	c->index = l->index;
}

/* Has a probe seen where launches like this one read and write? */
static bool vetted(const struct launch *l)
{
	return verdict_vetted(l->site, ((const struct kernel_rec *)l->kernel)->image);
}

static HOT struct {
	uint64_t begin, member; /* opcodes, as seq_beginners and seq_members say */
	uint64_t link;          /* of `begin`, those that only chains have */
} ops;

/* Are launches of that kernel decoded, other than in graphs? */
static bool looked_at(const struct kernel_rec *rec)
{
	return rec && rec->k.decoder &&
	       (!rec->k.family || process.config.opt.families == FAMILIES_YES);
}

/* Could a launch of that kernel change anything but itself? (seq.h; most launches end here) */
static bool concerns(const struct kernel_rec *rec)
{
	uint64_t mine = looked_at(rec) ? rec->k.ops : 0;

	if (record_on || __atomic_load_n(&window_watch, __ATOMIC_ACQUIRE))
		return true;
	if (!__atomic_load_n(&ops.member, __ATOMIC_ACQUIRE)) {
		const uint64_t link = window_chains_on() ? row_op_codes() : 0;

		ops.link = link & ~seq_beginners();
		ops.begin = seq_beginners() | link;
		__atomic_store_n(&ops.member, seq_members() | link, __ATOMIC_RELEASE);
	}
	return mine & (__atomic_load_n(&window_waiting, __ATOMIC_ACQUIRE) ? ops.member : ops.begin);
}

/* Is every launch to be looked at, for a recording or a report that lists each group? */
static bool all_looked_at(void)
{
	return record_on || report_listing();
}

/*
 * Nothing has come of the last launches that began like this one (their groups never completed, or
 * are refused for good), or nothing can, as a capture is under way: only some are still looked at.
 * Not while anything is open, and not where each group is to be listed.
 */
static bool dull(struct kernel_rec *rec)
{
	bool captures = __atomic_load_n(&window_captures, __ATOMIC_ACQUIRE);
	unsigned *count = captures ? &rec->captured : &rec->idle;
	unsigned n = __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
	unsigned after = rec->k.ops & ops.begin & ~ops.link ? DULL_AFTER : DULL_LINK;

	if (captures ? n <= CAPTURED_LOOK : n < after || n % DULL_PERIOD < DULL_LOOK)
		return false;
	if (all_looked_at() || __atomic_load_n(&window_watch, __ATOMIC_ACQUIRE))
		return false;
	if (!captures) /* those are the graph's business */
		COUNT(unlooked, 1);
	return true;
}

/* Is the launch of that kernel, which might begin something, sent on unseen? */
static bool passed_over(struct kernel_rec *rec, uint32_t here, uint64_t index)
{
	if (__atomic_load_n(&window_captures, __ATOMIC_ACQUIRE))
		return dull(rec);
	if (all_looked_at() || __atomic_load_n(&window_watch, __ATOMIC_ACQUIRE))
		return false;
	if (!outlook_waits(here, index) &&
	    (__atomic_load_n(&window_ways, __ATOMIC_RELAXED) || budget_left())) {
		if (!rec->k.family)
			return dull(rec);
		if (!outlook_pass(here))
			return false;
	}
	COUNT(unlooked, 1);
	return true;
}

/* Nothing begins while fusion is switched off; what is open then still has to end. */
static bool switched_off(void)
{
	return !control_on() && !record_on && !__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE);
}

static CUresult guarded(struct call *c)
{
	static uint64_t launches;
	static HOT bool loaded;
	struct kernel_rec *rec = kernels_get(c->f);
	uint64_t index = __atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);
	uint32_t here = 0;
	uint8_t params[PARAMS_MAX];
	struct launch l;
	struct op op;
	bool watched;
	CUresult r;

	if (rec) {
		kernels_launched(rec, counts_mine());
		outlook_seen(rec);
	} else {
		COUNT(nameless, 1);
	}
	if (has_attributes(c))
		attributed_note(rec);
	if (__atomic_load_n(&window_captures, __ATOMIC_ACQUIRE))
		attributed_stream(c->own.stream);
	if (!concerns(rec) || switched_off())
		return send(&c->own);
	if (looked_at(rec)) {
		here = outlook_here(c->grid[0]);
		if (rec->k.ops & ops.begin && passed_over(rec, here, index))
			return send(&c->own);
	}
	memset(&l, 0, sizeof(l));
	l.kernel = rec ? &rec->k : NULL;
	memcpy(l.grid, c->grid, sizeof(l.grid));
	memcpy(l.block, c->block, sizeof(l.block));
	l.shmem = c->shmem;
	l.attrs = attributes(c);
	if (rec && (looked_at(rec) || record_on))
		pack(c, &rec->k, params, &l);
	l.index = index;
	l.look = here;
	if (window_recall(&c->own, &l, &r))
		return r;
	if (looked_at(rec) && !all_looked_at() && !budget_left() && window_rest(&c->own)) {
		COUNT(unlooked, 1);
		return send(&c->own);
	}
	op_opaque(&op);
	if (looked_at(rec) && l.params) {
		if (!__atomic_load_n(&loaded, __ATOMIC_ACQUIRE)) {
			verdict_load();
			__atomic_store_n(&loaded, true, __ATOMIC_RELEASE);
		}
		decode_launch(&l, &op);
		COUNT(decoded, 1);
		watched = __atomic_load_n(&window_watch, __ATOMIC_ACQUIRE);
		if (op.code != OP_opaque && (watched || ops.begin >> op.code & 1))
			l.site = key_site(&l, &op);
		if (op.code != OP_opaque && !op.vetted && watched)
			op.vetted = vetted(&l);
	}
	if (!record_on)
		return window_launch(&c->own, &l, &op);
	__atomic_add_fetch(&record_ahead, 1, __ATOMIC_SEQ_CST);
	record(c, rec, &l);
	r = window_launch(&c->own, &l, &op);
	__atomic_sub_fetch(&record_ahead, 1, __ATOMIC_SEQ_CST);
	return r;
}

static CUresult launch(struct call *c)
{
	CUresult r;

	process_start();
	if ((!process.on && !__atomic_load_n(&window_watch, __ATOMIC_ACQUIRE)) || !guard_enter()) {
		if (has_attributes(c))
			attributed_note(NULL);
		if (__atomic_load_n(&window_captures, __ATOMIC_ACQUIRE))
			attributed_stream(c->own.stream);
		return send(&c->own);
	}
	finish_arm();
	r = guarded(c);
	guard_leave();
	return r;
}

static CUresult launch_plain(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			     unsigned by, unsigned bz, unsigned shmem, CUstream stream,
			     void **params, void **extra, bool ptsz, bool cooperative)
{
	struct call c = {.own = {send, stream, ptsz},
			 .f = f,
			 .grid = {gx, gy, gz},
			 .block = {bx, by, bz},
			 .shmem = shmem,
			 .params = params,
			 .extra = extra,
			 .cooperative = cooperative};

	return launch(&c);
}

static CUresult launch_ex(const CUlaunchConfig *config, CUfunction f, void **params, void **extra,
			  bool ptsz)
{
	struct call c = {.own = {send, NULL, ptsz},
			 .f = f,
			 .params = params,
			 .extra = extra,
			 .config = config};

	if (!config) /* the driver's to refuse */
		return send(&c.own);
	c.own.stream = config->hStream;
	memcpy(c.grid, (unsigned[]){config->gridDimX, config->gridDimY, config->gridDimZ},
	       sizeof(c.grid));
	memcpy(c.block, (unsigned[]){config->blockDimX, config->blockDimY, config->blockDimZ},
	       sizeof(c.block));
	c.shmem = config->sharedMemBytes;
	return launch(&c);
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			unsigned by, unsigned bz, unsigned shmem, CUstream stream, void **params,
			void **extra)
{
	return launch_plain(f, gx, gy, gz, bx, by, bz, shmem, stream, params, extra, false, false);
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			     unsigned by, unsigned bz, unsigned shmem, CUstream stream,
			     void **params, void **extra)
{
	return launch_plain(f, gx, gy, gz, bx, by, bz, shmem, stream, params, extra, true, false);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
				   unsigned by, unsigned bz, unsigned shmem, CUstream stream,
				   void **params)
{
	return launch_plain(f, gx, gy, gz, bx, by, bz, shmem, stream, params, NULL, false, true);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
					unsigned bx, unsigned by, unsigned bz, unsigned shmem,
					CUstream stream, void **params)
{
	return launch_plain(f, gx, gy, gz, bx, by, bz, shmem, stream, params, NULL, true, true);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
	return launch_ex(config, f, params, extra, false);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **params,
			       void **extra)
{
	return launch_ex(config, f, params, extra, true);
}
