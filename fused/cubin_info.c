/* SPDX-License-Identifier: Apache-2.0 */
#include "fused/cubin_info.h"

#include <string.h>

/*
 * A section is a row of records {form, attribute, ...}: FORM_SIZED has a 16-bit size and so many
 * bytes, the others two bytes. As read off cubins that nvcc 11 to 13 made; KPARAM2 is what 12.1 and
 * later write where a kernel takes more than 4 KB.
 */
enum {
	FORM_SIZED = 4,
	ATTR_KPARAM = 0x17,
	ATTR_REGISTERS = 0x2f,
	ATTR_KPARAM2 = 0x45,
	KIND_POINTER = 5, /* said by code for compute capability 10 and up */
};

struct record {
	unsigned attr;
	size_t bytes;
	const unsigned char *data; /* NULL if it is not FORM_SIZED */
};

static bool next(const unsigned char **p, size_t *bytes, struct record *r)
{
	uint16_t size;

	if (*bytes < 4)
		return false;
	memcpy(&size, *p + 2, 2);
	r->attr = (*p)[1];
	r->bytes = (*p)[0] == FORM_SIZED ? size : 0;
	r->data = (*p)[0] == FORM_SIZED ? *p + 4 : NULL;
	if (r->bytes > *bytes - 4)
		return false;
	*p += 4 + r->bytes;
	*bytes -= 4 + r->bytes;
	return true;
}

void cubin_info_registers(const void *info, size_t bytes, int *registers, size_t nsymbol)
{
	const unsigned char *p = info;
	struct record r;

	while (next(&p, &bytes, &r)) {
		uint32_t pair[2];

		if (r.attr != ATTR_REGISTERS || r.bytes < sizeof(pair))
			continue;
		memcpy(pair, r.data, sizeof(pair));
		if (pair[0] < nsymbol && pair[1] < 1024)
			registers[pair[0]] = (int)pair[1];
	}
}

int cubin_info_params(const void *info, size_t bytes, struct code_param *param)
{
	const unsigned char *p = info;
	struct record r;
	int n = 0, seen = 0;

	while (next(&p, &bytes, &r)) {
		uint16_t ordinal, offset, size;
		uint32_t word;

		if ((r.attr != ATTR_KPARAM && r.attr != ATTR_KPARAM2) || r.bytes < 12)
			continue;
		memcpy(&ordinal, r.data + 4, 2);
		memcpy(&offset, r.data + 6, 2);
		memcpy(&word, r.data + 8, 4);
		memcpy(&size, r.data + 8, 2);
		if (ordinal >= CODE_MAX_PARAMS)
			return -1;
		for (; n <= ordinal; n++)
			param[n] = (struct code_param){0};
		seen += !param[ordinal].bytes;
		param[ordinal].offset = offset;
		if (r.attr == ATTR_KPARAM) {
			param[ordinal].bytes = word >> 18;
			param[ordinal].pointer = (word >> 8 & 0xf) == KIND_POINTER;
		} else {
			param[ordinal].bytes = size;
			param[ordinal].pointer = r.data[11] == KIND_POINTER;
		}
		if (!param[ordinal].bytes)
			return -1;
	}
	return seen == n ? n : -1;
}
