/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration files compiled into library and command: every .ini file of config/. */
#ifndef AF_CONFIG_EMBEDDED_H
#define AF_CONFIG_EMBEDDED_H

struct embedded {
	const char *name, *text;
};
extern const struct embedded embedded[]; /* ends with a NULL name */

#endif
