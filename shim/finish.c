/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/finish.h"

#include <stdlib.h>
#include <unistd.h>

#include "shim/hot.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/report.h"
#include "shim/verdict.h"
#include "shim/window.h"
#include "shim/worker.h"

/* Did the device fault? Then the markers stay: this process did not survive. */
static bool faulted(void)
{
	CUresult r = real.cuStreamQuery(NULL);

	return r >= CUDA_ERROR_ILLEGAL_ADDRESS && r <= CUDA_ERROR_LAUNCH_FAILED;
}

static void finish(void)
{
	static int over;

	/* A forked child runs its parent's handlers; what they would write is the parent's. */
	if (getpid() != process.pid || __atomic_exchange_n(&over, 1, __ATOMIC_ACQ_REL))
		return;
	__atomic_store_n(&process.on, 0, __ATOMIC_SEQ_CST); /* nothing is held from here on */
	window_all_call();
	worker_driver_wait(true);
	if (verdict_marks() && !faulted())
		verdict_unmark_all();
	record_stop();
	report_exit();
}

void finish_arm(void)
{
	static HOT int armed;

	if (__atomic_load_n(&armed, __ATOMIC_RELAXED) ||
	    __atomic_exchange_n(&armed, 1, __ATOMIC_ACQ_REL))
		return;
	atexit(finish);
}

void finish_arm_recording(void)
{
	atexit(finish);
}
