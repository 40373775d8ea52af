/* SPDX-License-Identifier: Apache-2.0 */
/* Purity of a kernel in a cubin: its instructions, relocations and call graph, and those of every
 * function of the module that it can call. */
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shim/purity.h"
#include "shim/purity_sass.h"

enum {
	EIATTR_EXTERNS = 0x0f,
	BANK_USER = 3,    /* __constant__ variables */
	BANK_ADDRESS = 4, /* addresses of variables and functions */
};

enum { TEXT_UNKNOWN, TEXT_QUEUED, TEXT_JUDGED };

struct cubin {
	Elf *elf;
	Elf_Data *symbols;                        /* .symtab */
	size_t nsymbol, nsection, names, strings; /* sections of section names and symbol names */
	char *queued;                             /* per section: TEXT_* */
	struct purity *out;
};

static const char *section_name(const struct cubin *c, size_t index, GElf_Shdr *sh)
{
	Elf_Scn *s = elf_getscn(c->elf, index);
	const char *name =
		s && gelf_getshdr(s, sh) ? elf_strptr(c->elf, c->names, sh->sh_name) : NULL;

	return name ? name : "";
}

static const char *symbol(const struct cubin *c, size_t index, GElf_Sym *sym)
{
	const char *name = gelf_getsym(c->symbols, (int)index, sym)
				   ? elf_strptr(c->elf, c->strings, sym->st_name)
				   : NULL;

	if (!name) {
		memset(sym, 0, sizeof(*sym));
		return "?";
	}
	return name;
}

static bool cubin_open(struct cubin *c, void *code, size_t bytes, struct purity *out)
{
	GElf_Shdr sh;

	memset(c, 0, sizeof(*c));
	c->out = out;
	elf_version(EV_CURRENT);
	c->elf = elf_memory(code, bytes);
	if (!c->elf || elf_kind(c->elf) != ELF_K_ELF || elf_getshdrnum(c->elf, &c->nsection) ||
	    elf_getshdrstrndx(c->elf, &c->names))
		return false;
	for (size_t i = 1; i < c->nsection; i++) {
		section_name(c, i, &sh);
		if (sh.sh_type != SHT_SYMTAB || !sh.sh_entsize)
			continue;
		c->symbols = elf_getdata(elf_getscn(c->elf, i), NULL);
		c->strings = sh.sh_link;
		c->nsymbol = (size_t)(sh.sh_size / sh.sh_entsize);
	}
	c->queued = calloc(c->nsection, sizeof(*c->queued));
	return c->symbols && c->queued;
}

static void cubin_close(struct cubin *c)
{
	free(c->queued);
	elf_end(c->elf);
}

/* The code in question refers to this symbol. */
static void refer(struct cubin *c, size_t index)
{
	GElf_Sym sym;
	GElf_Shdr sh;
	const char *name = symbol(c, index, &sym), *where;
	bool defined = sym.st_shndx > SHN_UNDEF && sym.st_shndx < c->nsection;

	where = defined ? section_name(c, sym.st_shndx, &sh) : "";
	if (GELF_ST_TYPE(sym.st_info) == STT_FUNC) {
		if (!defined)
			purity_note(c->out, REASON_NOT_PURE, "calls %s", name);
		else if (c->queued[sym.st_shndx] == TEXT_UNKNOWN)
			c->queued[sym.st_shndx] = TEXT_QUEUED;
		return;
	}
	/* The compiler's own tables (of sinf and the like) never change; shared memory is the
	 * block's. */
	if (!strncmp(name, "__cudart_", 9) || !strncmp(where, ".nv.shared", 10) ||
	    !strncmp(name, ".nv.", 4))
		return;
	if (GELF_ST_TYPE(sym.st_info) == STT_OBJECT || !strncmp(where, ".nv.global", 10))
		purity_note(c->out, REASON_NOT_PURE, "uses the module variable %s", name);
}

/* Calls fn for each relocation of section `index` (at: its offset there). */
static void relocations(struct cubin *c, size_t index,
			void (*fn)(struct cubin *c, uint64_t at, size_t sym, uint64_t arg),
			uint64_t arg)
{
	GElf_Shdr sh;

	for (size_t i = 1; i < c->nsection; i++) {
		Elf_Data *data;

		section_name(c, i, &sh);
		if ((sh.sh_type != SHT_REL && sh.sh_type != SHT_RELA) || sh.sh_info != index ||
		    !sh.sh_entsize)
			continue;
		data = elf_getdata(elf_getscn(c->elf, i), NULL);
		for (size_t k = 0; data && k < sh.sh_size / sh.sh_entsize; k++) {
			GElf_Rela a;
			GElf_Rel r;

			if (sh.sh_type == SHT_RELA && gelf_getrela(data, (int)k, &a))
				fn(c, a.r_offset, GELF_R_SYM(a.r_info), arg);
			else if (sh.sh_type == SHT_REL && gelf_getrel(data, (int)k, &r))
				fn(c, r.r_offset, GELF_R_SYM(r.r_info), arg);
		}
	}
}

static void refer_any(struct cubin *c, uint64_t at, size_t sym, uint64_t arg)
{
	refer(c, sym);
}

static void refer_at(struct cubin *c, uint64_t at, size_t sym, uint64_t arg)
{
	if (at == arg)
		refer(c, sym);
}

/* The address at this offset of the address bank is read: of what? */
static void refer_address(struct cubin *c, unsigned offset)
{
	GElf_Shdr sh;
	bool found = false;

	for (size_t i = 1; i < c->nsection; i++)
		if (!strncmp(section_name(c, i, &sh), ".nv.constant4", 13)) {
			/* A 64-bit address may be read by halves. */
			relocations(c, i, refer_at, offset & ~7u);
			found = true;
		}
	if (!found)
		purity_note(c->out, REASON_NOT_PURE, "uses a module variable");
}

static void instruction(struct cubin *c, const uint64_t *code)
{
	struct sass s = sass_decode(code);

	switch (s.use) {
	case SASS_NOTHING:
		break;
	case SASS_CONSTANT:
	case SASS_CONSTANT_INDEXED:
		if (s.bank == BANK_USER)
			purity_note(c->out, REASON_NOT_PURE,
				    "reads __constant__ variables of the module");
		else if (s.bank == BANK_ADDRESS && s.use == SASS_CONSTANT)
			refer_address(c, s.offset);
		else if (s.bank == BANK_ADDRESS)
			purity_note(c->out, REASON_NOT_PURE,
				    "uses module variables or calls out of the module");
		break;
	case SASS_ATOMIC:
		purity_note(c->out, REASON_NOT_PURE, "uses atomics on integers");
		break;
	case SASS_ATOMIC_FLOAT:
		purity_note(c->out, REASON_NOT_DETERMINISTIC,
			    "uses floating-point or compare-and-swap atomics, whose order varies");
		break;
	case SASS_TEXTURE:
		purity_note(c->out, REASON_NOT_PURE, "uses a texture or surface");
		break;
	case SASS_CLOCK:
		purity_note(c->out, REASON_NOT_PURE,
			    "reads a clock or asks which processor it runs on");
		break;
	case SASS_CALL_POINTER:
		purity_note(c->out, REASON_NOT_PURE, "calls through a pointer");
		break;
	}
}

/* Symbols that the kernel's attributes list as external. */
static void externs(struct cubin *c, const unsigned char *p, size_t bytes)
{
	while (bytes >= 4) {
		size_t size = p[0] == 4 ? p[2] | (size_t)p[3] << 8 : 0;

		if (size > bytes - 4)
			return;
		for (size_t i = 0; p[1] == EIATTR_EXTERNS && i + 4 <= size; i += 4) {
			uint32_t sym;

			memcpy(&sym, p + 4 + i, 4);
			refer(c, sym);
		}
		p += 4 + size;
		bytes -= 4 + size;
	}
}

/* Whom the functions of text section `text` call, as pairs of symbols. */
static void callgraph(struct cubin *c, size_t text, const Elf_Data *data)
{
	for (size_t i = 0; i + 8 <= data->d_size; i += 8) {
		uint32_t pair[2];
		GElf_Sym sym;

		memcpy(pair, (const char *)data->d_buf + i, 8);
		if (!pair[0] || pair[0] >= c->nsymbol || pair[1] >= c->nsymbol)
			continue;
		symbol(c, pair[0], &sym);
		if (sym.st_shndx == text)
			refer(c, pair[1]);
	}
}

static void judge(struct cubin *c, size_t text)
{
	GElf_Shdr sh;
	Elf_Data *text_data = elf_getdata(elf_getscn(c->elf, text), NULL), *data;
	const char *function = section_name(c, text, &sh);

	/* Names first: they make better reading than what instructions show. */
	function = strncmp(function, ".text.", 6) ? "" : function + 6;
	relocations(c, text, refer_any, 0);
	for (size_t i = 1; i < c->nsection; i++) {
		const char *name = section_name(c, i, &sh);

		data = elf_getdata(elf_getscn(c->elf, i), NULL);
		if (!data || !data->d_buf)
			continue;
		if (!strcmp(name, ".nv.callgraph"))
			callgraph(c, text, data);
		else if (!strncmp(name, ".nv.info.", 9) && !strcmp(name + 9, function))
			externs(c, data->d_buf, data->d_size);
	}
	for (size_t i = 0; text_data && text_data->d_buf && i + 16 <= text_data->d_size; i += 16) {
		uint64_t code[2];

		memcpy(code, (const char *)text_data->d_buf + i, 16);
		instruction(c, code);
	}
}

void purity_elf(void *code, size_t bytes, const char *kernel, struct purity *out)
{
	struct cubin c;
	bool found = false;

	if (cubin_open(&c, code, bytes, out)) {
		for (size_t i = 1; i < c.nsymbol; i++) {
			GElf_Sym sym;

			if (!strcmp(symbol(&c, i, &sym), kernel) &&
			    GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_shndx > SHN_UNDEF &&
			    sym.st_shndx < c.nsection) {
				c.queued[sym.st_shndx] = TEXT_QUEUED;
				found = true;
			}
		}
		/* Judging one function may queue others, before or behind it. */
		for (size_t i = 1; i < c.nsection; i++)
			if (c.queued[i] == TEXT_QUEUED) {
				c.queued[i] = TEXT_JUDGED;
				judge(&c, i);
				i = 0;
			}
	}
	if (!found)
		purity_note(out, REASON_NO_VERDICT, "no code of this kernel in the image");
	cubin_close(&c);
}

void purity_elf_variables(void *code, size_t bytes,
			  void (*fn)(void *arg, const char *name, size_t size), void *arg)
{
	struct purity ignored = {0};
	struct cubin c;

	if (cubin_open(&c, code, bytes, &ignored))
		for (size_t i = 1; i < c.nsymbol; i++) {
			GElf_Sym sym;
			GElf_Shdr sh;
			const char *name = symbol(&c, i, &sym), *where;

			if (GELF_ST_TYPE(sym.st_info) != STT_OBJECT || sym.st_shndx == SHN_UNDEF ||
			    sym.st_shndx >= c.nsection || !strncmp(name, "__cudart_", 9) ||
			    name[0] == '$')
				continue;
			where = section_name(&c, sym.st_shndx, &sh);
			if (!strncmp(where, ".nv.global", 10) ||
			    !strncmp(where, ".nv.constant3", 13))
				fn(arg, name, (size_t)sym.st_size);
		}
	cubin_close(&c);
}
