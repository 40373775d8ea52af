// SPDX-License-Identifier: Apache-2.0
#include "tools/trace_kernels.h"

#include <stdlib.h>
#include <string.h>

#include "config/hash.h"
#include "matcher/decode.h"

struct entry {
	struct kernel k;
	UT_hash_handle hh;
	size_t key_bytes;
	char key[]; /* image, parameters, name */
};

struct trace_kernels {
	struct entry *table;
};

struct trace_kernels *trace_kernels_new(void)
{
	return calloc(1, sizeof(struct trace_kernels));
}

static struct entry *make(const void *key, size_t key_bytes, const char *name,
			  const struct param *param, uint32_t nparam)
{
	struct entry *e = calloc(1, sizeof(*e) + key_bytes);

	if (!e)
		return NULL;
	memcpy(e->key, key, key_bytes);
	e->key_bytes = key_bytes;
	e->k.name = strdup(name);
	e->k.param = calloc(nparam + 1, sizeof(*param));
	if (!e->k.name || !e->k.param) {
		free(e->k.name);
		free(e->k.param);
		free(e);
		return NULL;
	}
	memcpy(e->k.param, param, nparam * sizeof(*param));
	e->k.nparam = nparam;
	return e;
}

const struct kernel *trace_kernel(struct trace_kernels *t, const char *name,
				  const uint64_t image[2], const struct param *param,
				  uint32_t nparam, uint32_t param_bytes)
{
	const size_t image_bytes = 2 * sizeof(*image), layout = nparam * sizeof(*param),
		     bytes = image_bytes + layout + sizeof(param_bytes) + strlen(name);
	char *key = malloc(bytes);
	struct entry *e = NULL;

	if (!key)
		return NULL;
	memcpy(key, image, image_bytes);
	memcpy(key + image_bytes, &param_bytes, sizeof(param_bytes));
	memcpy(key + image_bytes + sizeof(param_bytes), param, layout);
	memcpy(key + image_bytes + sizeof(param_bytes) + layout, name, strlen(name));
	HASH_FIND(hh, t->table, key, bytes, e);
	if (!e && (e = make(key, bytes, name, param, nparam))) {
		e->k.image[0] = image[0];
		e->k.image[1] = image[1];
		e->k.param_bytes = param_bytes;
		decode_kernel(&e->k);
		HASH_ADD_KEYPTR(hh, t->table, e->key, e->key_bytes, e);
	}
	free(key);
	return e ? &e->k : NULL;
}

void trace_kernels_free(struct trace_kernels *t)
{
	struct entry *e, *next;

	if (!t)
		return;
	HASH_ITER(hh, t->table, e, next)
	{
		HASH_DEL(t->table, e);
		free(e->k.name);
		free(e->k.param);
		free(e);
	}
	free(t);
}
