/* SPDX-License-Identifier: Apache-2.0 */
#include "config/json.h"

void json_text(FILE *f, const char *s)
{
	putc('"', f);
	for (; s && *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20)
			fprintf(f, "\\u%04x", c);
		else
			putc(c, f);
	}
	putc('"', f);
}
