/* SPDX-License-Identifier: Apache-2.0 */
/* The request: one JSON object (shim/probe.h) into struct probe. */
#include "shim/probe_child_request.h"

#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "shim/probe.h"
#include "shim/probe_child_chain.h"

static bool bad(struct probe *p, const char *what)
{
	return probe_fail(p, REASON_NO_VERDICT, "request: bad or missing %s", what);
}

static bool text(struct probe *p, json_t *o, const char *name, char *out, size_t size)
{
	const char *s = json_string_value(json_object_get(o, name));

	if (!s || strlen(s) >= size)
		return bad(p, name);
	strcpy(out, s);
	return true;
}

/* Two words of 16 hex digits each. */
static bool hash(struct probe *p, json_t *o, const char *name, uint64_t out[2])
{
	const char *s = json_string_value(json_object_get(o, name));

	if (!s || strlen(s) != 32 || strspn(s, "0123456789abcdef") != 32)
		return bad(p, name);
	return sscanf(s, "%16" SCNx64 "%16" SCNx64, &out[0], &out[1]) == 2;
}

bool probe_request_triple(struct probe *p, json_t *o, const char *name, uint32_t out[3])
{
	json_t *a = json_object_get(o, name);

	for (size_t i = 0; i < 3; i++) {
		json_int_t v = json_integer_value(json_array_get(a, i));

		if (v < 1 || v > UINT32_MAX)
			return bad(p, name);
		out[i] = (uint32_t)v;
	}
	return true;
}

static bool sizes(struct probe *p, json_t *a, const char *name, int64_t *out, uint8_t *n)
{
	size_t count = json_array_size(a);

	if (count < 1 || count > OP_MAX_DIMS)
		return bad(p, name);
	for (size_t i = 0; i < count; i++)
		out[i] = json_integer_value(json_array_get(a, i));
	*n = (uint8_t)count;
	return true;
}

static bool operand(struct probe *p, json_t *j, struct operand *o)
{
	const char *addr = json_string_value(json_object_get(j, "addr"));
	const char *role = json_string_value(json_object_get(j, "role"));
	const char *dtype = json_string_value(json_object_get(j, "dtype"));
	uint8_t n;

	memset(o, 0, sizeof(*o));
	o->role = role ? (uint8_t)role_parse(role) : ROLE_NONE;
	o->dtype = dtype ? (uint8_t)dtype_parse(dtype) : DT_NONE;
	o->access = (uint8_t)json_integer_value(json_object_get(j, "access"));
	if (!o->role || !o->dtype || !addr || sscanf(addr, "%" SCNx64, &o->addr) != 1)
		return bad(p, "operand");
	return sizes(p, json_object_get(j, "size"), "size", o->size, &o->ndim) &&
	       sizes(p, json_object_get(j, "stride"), "stride", o->stride, &n) &&
	       (n == o->ndim || bad(p, "stride"));
}

/* Numbers as the 16 hex digits of their bits. */
static bool scalars(struct probe *p, json_t *j, struct op *op)
{
	if (json_array_size(j) > OP_MAX_SCALARS)
		return bad(p, "scalar");
	for (; op->nscalar < json_array_size(j); op->nscalar++) {
		const char *s = json_string_value(json_array_get(j, op->nscalar));
		uint64_t bits;

		if (!s || sscanf(s, "%16" SCNx64, &bits) != 1)
			return bad(p, "scalar");
		memcpy(&op->scalar[op->nscalar], &bits, sizeof(bits));
	}
	return true;
}

static bool op(struct probe *p, json_t *j, struct op *op)
{
	const char *code = json_string_value(json_object_get(j, "code"));
	json_t *operands = json_object_get(j, "operand"), *slots = json_object_get(j, "slot");
	json_t *eps = json_object_get(j, "eps");
	const char *compute = json_string_value(json_object_get(j, "compute"));
	int c = code ? opcode_parse(code) : -1;

	if (c < 0 || json_array_size(operands) > OP_MAX_OPERANDS ||
	    json_array_size(slots) > OP_MAX_SLOTS)
		return bad(p, "op");
	op->code = (enum opcode)c;
	op->rows = json_integer_value(json_object_get(j, "rows"));
	op->cols = json_integer_value(json_object_get(j, "cols"));
	op->has_eps = eps != NULL;
	op->eps = json_number_value(eps);
	op->plus_one = json_object_get(j, "plus_one") != NULL;
	op->compute = compute ? (uint8_t)dtype_parse(compute) : DT_NONE;
	if (!scalars(p, json_object_get(j, "scalar"), op))
		return false;
	for (size_t i = 0; i < json_array_size(operands); i++)
		if (!operand(p, json_array_get(operands, i), &op->operand[op->noperand++]))
			return false;
	for (size_t i = 0; i < json_array_size(slots); i++) {
		json_t *s = json_array_get(slots, i);
		const char *role = json_string_value(json_array_get(s, 2));

		op->slot[op->nslot++] =
			(struct slot){.offset = (uint16_t)json_integer_value(json_array_get(s, 0)),
				      .bytes = (uint16_t)json_integer_value(json_array_get(s, 1)),
				      .role = role ? (uint8_t)role_parse(role) : ROLE_NONE};
	}
	return true;
}

bool probe_request_params(struct probe *p, json_t *j, uint8_t *out, size_t size, size_t *n)
{
	const char *s = json_string_value(json_object_get(j, "params"));

	*n = s ? strlen(s) / 2 : 0;
	if (!s || strlen(s) % 2 || *n > size)
		return bad(p, "params");
	for (size_t i = 0; i < *n; i++)
		if (sscanf(s + 2 * i, "%2hhx", &out[i]) != 1)
			return bad(p, "params");
	return true;
}

static bool params(struct probe *p, json_t *j, struct probe_member *m)
{
	json_t *layout = json_object_get(j, "param");
	size_t n;

	if (!probe_request_params(p, j, m->params[0], sizeof(m->params[0]), &n))
		return false;
	m->kernel.param_bytes = (uint32_t)n;
	m->kernel.nparam = (uint32_t)json_array_size(layout);
	m->kernel.param = calloc(m->kernel.nparam + 1, sizeof(*m->kernel.param));
	for (uint32_t i = 0; m->kernel.param && i < m->kernel.nparam; i++) {
		json_t *a = json_array_get(layout, i);
		struct param *d = &m->kernel.param[i];

		d->offset = (uint32_t)json_integer_value(json_array_get(a, 0));
		d->bytes = (uint32_t)json_integer_value(json_array_get(a, 1));
		if (d->offset > n || d->bytes > n - d->offset)
			return bad(p, "param");
	}
	return m->kernel.param != NULL || bad(p, "memory");
}

static int open_image(const struct probe *p, const char *file)
{
	const size_t n = sizeof(PROBE_PASSED) - 1;
	unsigned long i;

	if (strncmp(file, PROBE_PASSED, n))
		return open(file, O_RDONLY | O_CLOEXEC);
	i = strtoul(file + n, NULL, 10);
	return i < p->npassed ? dup(p->passed[i]) : -1;
}

/* Maps the image's bytes; members of one image share it. The bytes must be those that were hashed.
 */
static bool image(struct probe *p, json_t *j, struct probe_member *m)
{
	json_t *where = json_object_get(j, "image");
	const char *file = json_string_value(json_object_get(where, "file"));
	uint64_t offset = (uint64_t)json_integer_value(json_object_get(where, "offset"));
	uint64_t bytes = (uint64_t)json_integer_value(json_object_get(where, "bytes"));
	struct probe_image *img = &p->image[p->nimage];
	int fd = file ? open_image(p, file) : -1;
	struct stat st;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), skip = offset % page;
	char *map = MAP_FAILED;
	XXH128_hash_t h;

	if (fd >= 0 && !fstat(fd, &st) && bytes && offset + bytes <= (uint64_t)st.st_size)
		map = mmap(NULL, skip + bytes, PROT_READ, MAP_PRIVATE, fd, (off_t)(offset - skip));
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return probe_fail(p, REASON_NO_VERDICT, "cannot read the image of %s",
				  m->kernel.name);
	h = XXH3_128bits(map + skip, bytes);
	if ((m->hash[0] || m->hash[1]) && (m->hash[0] != h.high64 || m->hash[1] != h.low64))
		return probe_fail(p, REASON_NO_VERDICT, "the image of %s is not what was loaded",
				  m->kernel.name);
	for (unsigned i = 0; i < p->nimage; i++)
		if (p->image[i].size == bytes && !memcmp(p->image[i].bytes, map + skip, bytes)) {
			m->image = &p->image[i];
			munmap(map, skip + bytes);
			return true;
		}
	img->bytes = map + skip;
	img->size = bytes;
	m->image = img;
	p->nimage++;
	return true;
}

bool probe_request_kernel(struct probe *p, json_t *j, struct probe_member *m)
{
	const char *name = json_string_value(json_object_get(j, "name"));
	struct launch *l = &m->m.launch;

	m->kernel.name = name ? strdup(name) : NULL;
	if (!m->kernel.name)
		return bad(p, "name");
	if (!hash(p, j, "hash", m->hash) || !probe_request_triple(p, j, "grid", l->grid) ||
	    !probe_request_triple(p, j, "block", l->block) || !params(p, j, m) || !image(p, j, m))
		return false;
	m->kernel.image[0] = m->hash[0];
	m->kernel.image[1] = m->hash[1];
	l->shmem = (uint32_t)json_integer_value(json_object_get(j, "shmem"));
	l->kernel = &m->kernel;
	l->params = m->params[0];
	return true;
}

static bool member(struct probe *p, json_t *j, struct probe_member *m)
{
	if (!probe_request_kernel(p, j, m) || !op(p, json_object_get(j, "op"), &m->m.op))
		return false;
	for (unsigned i = 0; i < m->m.op.nslot; i++)
		if ((m->m.op.slot[i].bytes > 8 && m->m.op.slot[i].role != ROLE_NONE) ||
		    m->m.op.slot[i].offset + m->m.op.slot[i].bytes > m->kernel.param_bytes)
			return bad(p, "slot");
	return true;
}

/* What the members are together. */
static bool join(struct probe *p)
{
	enum reason why;

	if (p->chain)
		return probe_chain_ask(p);
	why = p->asked.pattern->bind(&p->asked);
	return !why || probe_fail(p, why, "the members do not form the pattern");
}

bool probe_request_parse(struct probe *p, json_t *o)
{
	json_t *members = json_object_get(o, "member");
	const char *s = json_string_value(json_object_get(o, "pattern"));
	enum pattern_id id = s ? pattern_parse(s) : PATTERN_COUNT;
	unsigned n = (unsigned)json_array_size(members);
	char numerics[16];

	p->chain = json_object_get(o, "chain") != NULL;
	if (id == PATTERN_COUNT || n < 1 || n > GROUP_MAX_MEMBERS ||
	    (!p->chain && n != pattern_get(id)->nnode))
		return bad(p, "pattern");
	p->device = (int)json_integer_value(json_object_get(o, "device"));
	p->seconds = (long)json_integer_value(json_object_get(o, "seconds"));
	p->share = (unsigned)json_integer_value(json_object_get(o, "share"));
	if (!hash(p, o, "key", p->key.hash) || !text(p, o, "cache", p->cache, sizeof(p->cache)) ||
	    !text(p, o, "inputs", p->inputs, sizeof(p->inputs)) ||
	    !text(p, o, "candidates", p->candidates, sizeof(p->candidates)) ||
	    !text(p, o, "numerics", numerics, sizeof(numerics)))
		return false;
	p->close = !strcmp(numerics, "close");
	p->asked.pattern = pattern_get(id);
	for (; p->nmember < n; p->nmember++) {
		struct probe_member *m = &p->member[p->nmember];

		if (!member(p, json_array_get(members, p->nmember), m))
			return false;
		p->asked.member[p->nmember] = &m->m;
	}
	s = json_string_value(json_object_get(o, "stand_in"));
	p->stand_in = !s || !strcmp(s, "written") ? STAND_IN_WRITTEN
		      : !strcmp(s, "generated")   ? STAND_IN_GENERATED
						  : STAND_IN_MEASURED;
	for (unsigned i = 0; p->chain && i < n; i++) {
		const char *pick =
			json_string_value(json_object_get(json_array_get(members, i), "pick"));

		p->tools->known[i] = pick && !row_pick_parse(pick, &p->pick[i]);
	}
	if (p->chain)
		p->asked.nmember = (uint8_t)n;
	if (p->chain || p->stand_in != STAND_IN_WRITTEN) {
		p->tools->places = strdup(json_string_value(json_object_get(o, "places")) ?: "");
		p->tools->image_bytes = (uint64_t)json_integer_value(json_object_get(o, "images"));
	}
	return join(p);
}
