/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver functions that are in no table: handed out as thunks that submit everything and pass on
 * whatever signature there is. And functions of the table that the loaded driver lacks. Prints TAP.
 * usage: outside OWNER     (libautofuse.so, or libcuda.so.1 when switched off)
 */
#include "tests/preload/owner.h"
#include "tests/preload/words.h"

int main(int argc, char **argv)
{
	const char *who = argc > 1 ? argv[1] : "";
	void *h = dlopen("libcuda.so.1", RTLD_NOW), *p = NULL;
	struct fake_log *log = h ? dlsym(h, "fake_log") : NULL;
	__typeof__(cuFakeOutside) *f;
	struct words_seen *w;
	CUresult (*query)(const char *, void **, int, cuuint64_t, void *);

	if (!log) {
		fprintf(stderr, "outside: no fake driver\n");
		return 2;
	}
	((CUresult(*)(unsigned))dlsym(h, "cuInit"))(0);
	f = (__typeof__(f))dlsym(h, "cuFakeOutside");
	ok_owner((void *)f, who, "an unknown export is handed out as a thunk");
	ok(dlsym(h, "cuFakeOutside") == (void *)f, "always as the same one");
	query = (__typeof__(query))dlsym(h, "cuGetProcAddress_v2");
	ok(!query("cuFakeOutside", &p, 13000, 0, NULL) && p == (void *)f,
	   "cuGetProcAddress gives the same one");
	f(1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5);
	w = &log->call[(log->calls - 1) % FAKE_LOG];
	ok(!strcmp(w->name, "cuFakeOutside") && w->n == 18 * 8, "its call arrives");
	for (int i = 0, good = 1; i < 18; i++) {
		long l;
		double d;

		memcpy(&l, w->bytes + 8 * i, 8);
		memcpy(&d, w->bytes + 8 * i, 8);
		good &= i % 2 ? d == 1.5 + i / 2 : l == 1 + i / 2;
		if (i == 17)
			ok(good,
			   "with all 18 arguments, in registers of both kinds and on the stack");
	}
	/* A recording is of processes that launch something. */
	((__typeof__(cuLaunchKernel) *)dlsym(h, "cuLaunchKernel"))(NULL, 1, 1, 1, 1, 1, 1, 0, NULL,
								   NULL, NULL);
	return finished();
}
