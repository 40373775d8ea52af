/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/process.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "config/log.h"
#include "matcher/decode.h"
#include "matcher/pattern.h"
#include "matcher/sig.h"
#include "shim/control.h"
#include "shim/hot.h"
#include "shim/record.h"
#include "shim/report.h"
#include "shim/route.h"
#include "shim/torch.h"
#include "shim/window.h"

HOT struct process process;

static int gave_up; /* never on again */

static __thread bool guard HOT_THREAD;

bool guard_enter(void)
{
	if (guard)
		return false;
	guard = true;
	return true;
}

void guard_leave(void)
{
	guard = false;
}

bool guard_held(void)
{
	return guard;
}

bool process_wanted(void)
{
	static const char *const no[] = {"0", "no", "false", "off"};
	static int wanted; /* 0: not asked yet, 1: yes, 2: no */
	int w = __atomic_load_n(&wanted, __ATOMIC_RELAXED);
	const char *value;

	if (w)
		return w == 1;
	value = getenv("AUTOFUSE");
	w = 1;
	for (unsigned i = 0; value && i < sizeof(no) / sizeof(no[0]); i++)
		if (!strcasecmp(value, no[i]))
			w = 2;
	__atomic_store_n(&wanted, w, __ATOMIC_RELAXED);
	return w == 1;
}

/* CUDA is of no use in a child of a process that initialised it, and locks of ours may be held by
 * threads that do not exist there: the child is the driver's alone. */
static void forked(void)
{
	process_give_up();
	window_forked();
}

void process_give_up(void)
{
	__atomic_store_n(&gave_up, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&process.on, 0, __ATOMIC_SEQ_CST);
}

void process_off(const char *why)
{
	bool was_on = __atomic_load_n(&process.on, __ATOMIC_SEQ_CST);

	process_give_up();
	if (was_on)
		log_warn("%s; fusion is off", why);
}

static bool env_on(const char *name)
{
	const char *v = getenv(name);

	return v && v[0] && strcmp(v, "0");
}

static void start(void)
{
	bool entered = guard_enter();

	process.pid = getpid();
	process.launch_blocking = env_on("CUDA_LAUNCH_BLOCKING");
	if (process_wanted())
		config_load(&process.config, true);
	if (process.config.opt.enable && !route_first()) {
		log_warn("another preloaded library answers dlsym before this one, so not every "
			 "driver call can be seen: fusion is off; put libautofuse.so first in "
			 "LD_PRELOAD");
	} else if (process.config.opt.enable) {
		sig_compile(&process.config);
		decode_families = process.config.opt.families != FAMILIES_NO;
		torch_start(process.config.opt.torch);
		pattern_switches(&process.config, process.pattern_on);
		pthread_atfork(NULL, NULL, forked);
		report_start();
		record_start();
		control_start();
		__atomic_store_n(&process.on, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&gave_up, __ATOMIC_SEQ_CST))
			__atomic_store_n(&process.on, 0, __ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&process.started, true, __ATOMIC_RELEASE);
	if (entered)
		guard_leave();
}

/* Once, and by nobody that others wait for: it takes the loader's lock, under which constructors of
 * what is loaded just now may wait for start(). */
static void keep_driver(void)
{
	static bool kept;

	if (__atomic_load_n(&kept, __ATOMIC_RELAXED) ||
	    !__atomic_load_n(&process.on, __ATOMIC_ACQUIRE) ||
	    __atomic_exchange_n(&kept, true, __ATOMIC_RELAXED) || !guard_enter())
		return;
	route_keep();
	guard_leave();
}

void process_start_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (guard) /* a call made by start() itself, through somebody's malloc, say */
		return;
	pthread_once(&once, start);
	keep_driver();
}
