/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/finish.h"

#include <stdlib.h>

#include "shim/process.h"
#include "shim/record.h"
#include "shim/report.h"
#include "shim/verdict.h"
#include "shim/window.h"
#include "shim/worker.h"

static int armed_pid;

/* Did the device fault? Then the markers stay: this process did not survive. */
static bool faulted(void)
{
	CUresult r = real.cuStreamQuery ? real.cuStreamQuery(NULL) : CUDA_SUCCESS;

	return r >= CUDA_ERROR_ILLEGAL_ADDRESS && r <= CUDA_ERROR_LAUNCH_FAILED;
}

static void finish(void)
{
	if (!process.on && !process.started)
		return;
	if (armed_pid != process.pid)
		return; /* a forked child that runs its parent's handlers */
	window_all_call();
	process.on = 0;
	worker_driver_wait(true);
	if (!faulted())
		verdict_unmark_all();
	record_stop();
	report_exit();
}

void finish_arm(void)
{
	static int once;

	if (__atomic_exchange_n(&once, 1, __ATOMIC_ACQ_REL))
		return;
	armed_pid = process.pid;
	atexit(finish);
}
