// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include "matcher/pattern.h"
#include "matcher/sig.h"
#include "tools/args.h"
#include "tools/commands.h"

int command_config(int argc, char **argv)
{
	bool on[PATTERN_COUNT];
	struct config c;
	unsigned bad;

	for (int i = 1; i < argc;)
		if (args_take(argc, argv, &i) != ARGS_TAKEN) {
			log_warn("usage: autofuse config [--option=value ...] [-f FILE.ini]");
			return EXIT_USAGE;
		}
	config_load(&c, true);
	args_apply(&c, argc, argv);
	bad = c.errors + sig_compile(&c) + pattern_switches(&c, on);
	config_print(&c, stdout);
	config_free(&c);
	return bad ? EXIT_BAD_INPUT : 0;
}
