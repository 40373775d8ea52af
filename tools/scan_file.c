// SPDX-License-Identifier: Apache-2.0
/*
 * Device code in a file, read piece by piece: of a library of gigabytes only one piece is in memory
 * at a time. A file that shrinks meanwhile is a short read, not a fault.
 */
#include <ar.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/log.h"
#include "tools/progress.h"
#include "tools/scan.h"

enum {
	WINDOW = 1 << 16,
	WHOLE_MAX = 256 << 20, /* of a bare cubin or PTX */
	EM_CUDA_ = 190,
};

struct file {
	struct scan *s;
	int fd;
	uint64_t size;
	const char *name;
	/* The section or member being read. */
	const char *where;
	bool relocatable;
};

static bool read_at(const struct file *f, void *to, uint64_t bytes, uint64_t at)
{
	char *p = to;

	while (bytes) {
		ssize_t n = pread(f->fd, p, bytes, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		at += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return true;
}

static void add(const struct file *f, struct fatbin_code *c, uint64_t at)
{
	char *data = c->kind == FATBIN_OTHER ? NULL : malloc(c->bytes + 1);

	if (data && read_at(f, data, c->bytes, at)) {
		c->data = data;
		scan_add(f->s, f->name, f->where, f->relocatable, c);
	} else if (data) {
		scan_damaged(f->s, f->name, f->where);
	} else if (c->kind == FATBIN_OTHER) {
		scan_add(f->s, f->name, f->where, f->relocatable, c);
	} else {
		f->s->no_memory = true;
	}
	free(data);
}

/* The entries of one fatbin: [at, end). */
static void entries(const struct file *f, uint64_t at, uint64_t end)
{
	while (end - at >= FATBIN_ENTRY) {
		char header[FATBIN_ENTRY];
		struct fatbin_code c;
		uint64_t data, next;

		progress_show(f->name, at, f->size);
		if (!read_at(f, header, sizeof(header), at) ||
		    !fatbin_entry(header, end - at, &c, &data, &next)) {
			scan_damaged(f->s, f->name, f->where);
			return;
		}
		add(f, &c, at + data);
		at += next;
	}
}

/* Where the next fatbin of [at, end) begins (they are aligned to 8); end if there is none. */
static uint64_t find(const struct file *f, uint64_t at, uint64_t end)
{
	static char window[WINDOW];
	uint64_t header, bytes;

	while (end - at >= FATBIN_HEADER) {
		uint64_t n = end - at < WINDOW ? end - at : WINDOW;

		progress_show(f->name, at, f->size);
		if (!read_at(f, window, n, at))
			break;
		for (uint64_t i = 0; i + FATBIN_HEADER <= n; i += 8)
			if (fatbin_header(window + i, &header, &bytes))
				return at + i;
		at += (n - FATBIN_HEADER) / 8 * 8 + 8;
	}
	return end;
}

/* All fatbins of [at, end). Where `sure` is false, what only looks like one is passed over. */
static void fatbins(const struct file *f, uint64_t at, uint64_t end, bool sure)
{
	const uint64_t start = at; /* alignment counts from here: archives align members to 2 */

	while (at < end && (at = find(f, at, end)) < end) {
		char header[FATBIN_HEADER];
		uint64_t bytes, code;

		if (read_at(f, header, sizeof(header), at) &&
		    fatbin_header(header, &bytes, &code) && bytes <= end - at &&
		    code <= end - at - bytes) {
			entries(f, at + bytes, at + bytes + code);
			at = start + ((at - start + bytes + code + 7) & ~7ull);
		} else {
			if (sure)
				scan_damaged(f->s, f->name, f->where);
			at += 8;
		}
	}
}

struct section {
	uint64_t at, end;
	bool linked, relocatable;
	const char *name;
};

/* Section i of a host ELF that begins at `base` of the file. */
static bool section(const struct file *f, Elf *elf, size_t names, size_t i, uint64_t base,
		    struct section *out)
{
	GElf_Shdr sh;
	const char *name =
		gelf_getshdr(elf_getscn(elf, i), &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

	if (!name || sh.sh_type == SHT_NOBITS || !sh.sh_size || sh.sh_offset > f->size - base ||
	    sh.sh_size > f->size - base - sh.sh_offset)
		return false;
	out->at = base + sh.sh_offset;
	out->end = out->at + sh.sh_size;
	out->linked = !strcmp(name, ".nv_fatbin");
	out->relocatable = !strcmp(name, "__nv_relfatbin");
	/* Elsewhere only data is searched, at its alignment. */
	if (!out->linked && !out->relocatable &&
	    (sh.sh_type != SHT_PROGBITS || !(sh.sh_flags & SHF_ALLOC) ||
	     sh.sh_flags & SHF_EXECINSTR))
		return false;
	out->name = name;
	return true;
}

/*
 * Code for the driver is in .nv_fatbin, code for the linker in __nv_relfatbin; with both, the
 * second is what the first was made of (cuobjdump judges alike). Code that a program embedded
 * itself may lie in any data section, which is worth a search only where the usual ones are
 * missing.
 */
static void host_elf(struct file *f, Elf *elf, uint64_t base, const char *member)
{
	size_t n, names;
	bool linked = false, usual = false;
	struct section s;
	GElf_Ehdr eh;

	if (base > f->size || !gelf_getehdr(elf, &eh) || eh.e_shoff > f->size - base ||
	    (uint64_t)eh.e_shnum * eh.e_shentsize > f->size - base - eh.e_shoff ||
	    elf_getshdrnum(elf, &n) || elf_getshdrstrndx(elf, &names)) {
		scan_damaged(f->s, f->name, member ? member : "");
		return;
	}
	for (size_t i = 1; i < n; i++)
		if (section(f, elf, names, i, base, &s)) {
			linked |= s.linked;
			usual |= s.linked || s.relocatable;
		}
	for (size_t i = 1; i < n; i++) {
		if (!section(f, elf, names, i, base, &s))
			continue;
		if (usual && !s.linked && (!s.relocatable || (linked && !f->s->linked_too)))
			continue;
		f->relocatable = s.relocatable;
		f->where = member ? member : s.name;
		fatbins(f, s.at, s.end, usual);
	}
}

/* Does the archive's member that begins at `at` go beyond the end? libelf says what there is of it.
 */
static bool cut_short(const struct file *f, uint64_t at)
{
	struct ar_hdr h;

	return at >= sizeof(h) && at <= f->size && read_at(f, &h, sizeof(h), at - sizeof(h)) &&
	       !memcmp(h.ar_fmag, ARFMAG, sizeof(h.ar_fmag)) &&
	       strtoull(h.ar_size, NULL, 10) > f->size - at;
}

static void archive(struct file *f, Elf *ar)
{
	Elf_Cmd cmd = ELF_C_READ;
	Elf *elf;

	while ((elf = elf_begin(f->fd, cmd, ar))) {
		Elf_Arhdr *h = elf_getarhdr(elf);

		if (elf_kind(elf) == ELF_K_ELF && h)
			host_elf(f, elf, (uint64_t)elf_getbase(elf),
				 scan_keep(f->s, h->ar_name ? h->ar_name : "?"));
		else if (cut_short(f, (uint64_t)elf_getbase(elf)))
			scan_damaged(f->s, f->name, "");
		cmd = elf_next(elf);
		elf_end(elf);
	}
}

/* A file that is one piece by itself. */
static void whole(struct file *f, enum fatbin_kind kind)
{
	struct fatbin_code c = {.kind = kind, .bytes = f->size, .full = f->size};
	char *text;

	if (f->size > WHOLE_MAX || !(text = malloc(f->size + 1)))
		return;
	if (read_at(f, text, f->size, 0)) {
		text[f->size] = 0;
		if (kind == FATBIN_ELF || (!memchr(text, 0, f->size) && strstr(text, ".version"))) {
			c.data = text;
			scan_add(f->s, f->name, "", false, &c);
		}
	}
	free(text);
}

static void read_file(struct file *f)
{
	unsigned char head[64] = {0};
	uint64_t n = f->size < sizeof(head) ? f->size : sizeof(head), a, b;
	Elf64_Ehdr eh;
	Elf *elf;

	if (!read_at(f, head, n, 0))
		return;
	memcpy(&eh, head, sizeof(eh));
	elf_version(EV_CURRENT);
	if (n >= FATBIN_HEADER && fatbin_header(head, &a, &b)) {
		fatbins(f, 0, f->size, true);
	} else if (n >= SELFMAG && !memcmp(head, ELFMAG, SELFMAG) && eh.e_machine == EM_CUDA_) {
		whole(f, FATBIN_ELF);
	} else if (n >= SELFMAG &&
		   (!memcmp(head, ELFMAG, SELFMAG) || !memcmp(head, ARMAG, SELFMAG))) {
		elf = elf_begin(f->fd, ELF_C_READ, NULL);
		if (elf && elf_kind(elf) == ELF_K_AR)
			archive(f, elf);
		else if (elf && elf_kind(elf) == ELF_K_ELF)
			host_elf(f, elf, 0, NULL);
		else
			scan_damaged(f->s, f->name, "");
		elf_end(elf);
	} else {
		whole(f, FATBIN_PTX);
	}
}

int scan_file(struct scan *s, const char *path, const char *name)
{
	struct file f = {.s = s, .where = ""};
	struct stat st;

	f.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (f.fd < 0 || fstat(f.fd, &st)) {
		log_warn("%s: %m", name);
		if (f.fd >= 0)
			close(f.fd);
		return -1;
	}
	if (!S_ISREG(st.st_mode)) {
		log_warn("%s is not a file", name);
		close(f.fd);
		return -1;
	}
	f.size = (uint64_t)st.st_size;
	f.name = scan_keep(s, name);
	read_file(&f);
	progress_end();
	close(f.fd);
	return 0;
}
