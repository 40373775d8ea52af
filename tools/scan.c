// SPDX-License-Identifier: Apache-2.0
#include "tools/scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "matcher/sig.h"
#include "tools/args.h"
#include "tools/commands.h"

struct request {
	const char *what, *glob;
	bool json, suggest, linked_too;
};

/* The flags that are scan's own; false: not one of them. */
static bool flag(struct request *r, const char *arg)
{
	if (!strcmp(arg, "--json"))
		r->json = true;
	else if (!strcmp(arg, "--suggest"))
		r->suggest = true;
	else if (!strcmp(arg, "--all"))
		r->linked_too = true;
	else if (!strncmp(arg, "--match=", 8))
		r->glob = arg + 8;
	else
		return false;
	return true;
}

static bool all_digits(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n && n < 10 && !text[n];
}

static int scan(const struct request *r)
{
	struct scan s = {.linked_too = r->linked_too};
	int rc = access(r->what, F_OK) && all_digits(r->what) ? scan_pid(&s, atoi(r->what))
							      : scan_file(&s, r->what, r->what);

	if (rc) {
		scan_free(&s);
		return EXIT_USAGE;
	}
	(r->json      ? scan_print_json
	 : r->suggest ? scan_suggest
		      : scan_print_text)(&s, r->what, r->glob, stdout);
	if (s.no_memory)
		log_warn("out of memory: not everything is listed");
	rc = s.damaged || s.no_memory ? EXIT_BAD_INPUT : 0;
	scan_free(&s);
	return rc;
}

int command_scan(int argc, char **argv)
{
	struct request r = {0};
	struct config c;
	bool bad = false;
	int rc;

	for (int i = 1; i < argc && !bad;) {
		enum args_got got;

		if (flag(&r, argv[i])) {
			i++;
			continue;
		}
		got = args_take(argc, argv, &i);
		if (got == ARGS_OTHER) {
			bad = argv[i][0] == '-' || r.what;
			r.what = argv[i++];
		} else {
			bad = got == ARGS_BAD;
		}
	}
	if (bad || !r.what || (r.json && r.suggest)) {
		log_warn(
			"usage: autofuse scan FILE|PID [--json | --suggest] [--match=GLOB] [--all] "
			"[-f FILE.ini]");
		return EXIT_USAGE;
	}
	config_load(&c, true);
	args_apply(&c, argc, argv);
	sig_compile(&c);
	rc = scan(&r);
	config_free(&c);
	return rc;
}
