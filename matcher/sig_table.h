/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled signature (sig.h says what people write), shared by compiler and decoder. */
#ifndef AF_MATCHER_SIG_TABLE_H
#define AF_MATCHER_SIG_TABLE_H

#include "matcher/sig.h"

enum {
	SIG_MAX_ARGS = 32,
	SIG_MAX_TERMS = 8,
	SIG_MAX_NAMES = 8,
	SIG_NAME_BYTES = 16, /* of an @NAME, with its final NUL */
	SIG_MAX_FORM = 7,    /* operands of an opcode */
};

enum sig_term_kind {
	TERM_NUMBER,
	TERM_ROLE,  /* value: enum role of an extent */
	TERM_NAME,  /* value: index of the @NAME */
	TERM_GRID,  /* value: dimension 0..2 */
	TERM_BLOCK, /* likewise */
};

/* term[0] op[1] term[1] op[2] term[2] ..., left to right; nterm is 0 where there is none. */
struct sig_expr {
	unsigned nterm;
	struct {
		char op; /* '*' or '/' in front of this term */
		uint8_t kind;
		int64_t value;
	} term[SIG_MAX_TERMS];
};

/* What a launch's arguments say: addresses and extents by role, numbers by name. */
struct sig_values {
	int64_t role[ROLE_COUNT];
	int64_t name[SIG_MAX_NAMES];
};

/* A dimension of an operand that is a box (sig_box.c). */
struct sig_dim {
	struct sig_expr size, stride; /* in elements; no terms: broadcast if strided, else dense */
	bool strided;
};

struct sig_box {
	unsigned ndim;
	struct sig_dim dim[OP_MAX_DIMS];
};

struct sig_arg {
	uint8_t role;  /* enum role; ROLE_NONE for "-"; "inout" is ROLE_out with inout set */
	uint8_t dtype; /* enum dtype, of an operand */
	int8_t name;   /* index of its @NAME, or -1 */
	bool inout;
	enum { SIG_ANY, SIG_INTEGER, SIG_REAL } demand;
	int64_t integer;
	double real;
	struct sig_expr *size; /* of an operand, in elements; NULL: as the opcode has it */
	struct sig_box *box;   /* likewise, of one with dimensions */
};

struct sig_name {
	char *text;
	bool glob;
};

struct sig {
	char *label;
	const char *file; /* the configuration's, and line: for messages while compiling */
	int line;
	struct sig_name *match;
	unsigned nmatch;
	enum opcode code;
	unsigned narg, nname;
	struct sig_arg arg[SIG_MAX_ARGS];
	char name[SIG_MAX_NAMES][SIG_NAME_BYTES];
	int8_t at[ROLE_COUNT]; /* argument with that role, or -1; in0 of an inout is where out is */
	uint8_t dtype;         /* of operands without their own, while compiling */
	bool plus_one;         /* weight = 1+w */
	struct sig_expr n, rows, cols;
	double eps;
	bool has_eps;
	struct sig *next;
	const struct sig *other; /* the next section with the same match, or NULL */
};

/* opcode.def as data. */
enum sig_space { SPACE_NONE, SPACE_ELEMENTS, SPACE_ROWS, SPACE_OWN };
enum sig_shape { SHAPE_ALL, SHAPE_COLS, SHAPE_PER_ROW, SHAPE_OWN };

struct sig_operand {
	uint8_t role;   /* ROLE_NONE ends the list */
	uint8_t access; /* enum access; both: read and written in place */
	uint8_t shape;  /* enum sig_shape */
	bool may;       /* a kernel can do without it */
};

struct sig_form {
	enum sig_space space;
	struct sig_operand operand[SIG_MAX_FORM + 1]; /* out first */
};
const struct sig_form *sig_form(enum opcode code);
/* What the opcode says of the operand with that role, or NULL if it has none. */
const struct sig_operand *sig_form_operand(enum opcode code, enum role role);

/* Compiles `cols * grid.y / @heads`; @NAMEs are added to s. 0, or -1 with what is accepted in err.
 */
int sig_expr_parse(struct sig *s, struct sig_expr *e, const char *text, char *err,
		   unsigned errsize);
/* The value, more than 0, for a launch whose arguments are v. False: a factor of 0 or less,
 * overflow, a division with a remainder. */
bool sig_expr_value(const struct sig_expr *e, const struct launch *l, const struct sig_values *v,
		    int64_t *value);
/* The index of that @NAME in s, added if it is new; -1 if there is no room or it is no name. */
int sig_name(struct sig *s, const char *text, size_t len);

/* Compiles `SIZE:STRIDE|SIZE:STRIDE`, which is cut to pieces. 0, or -1 with what is accepted in
 * err. */
int sig_box_parse(struct sig *s, struct sig_arg *a, char *text, char *err, unsigned errsize);
/* Does the opcode allow that operand to have dimensions? 0, or -1 with a message in err. */
int sig_box_check(const struct sig *s, const struct sig_arg *a, const struct sig_operand *o,
		  char *err, unsigned errsize);
/* Gives the operand, whose type is set, its dimensions; counts its elements. False: no plausible
 * sizes. */
bool sig_box_place(const struct sig_box *box, const struct launch *l, const struct sig_values *v,
		   struct operand *o, int64_t *count);
/* Where an elementwise op has boxes among its operands, all get the same sizes. False: they differ.
 */
bool sig_box_agree(struct op *op);

/* Compiles one section; NULL if it is bad (it was warned about) or memory runs out. */
struct sig *sig_from_section(const struct config_kernel *k);
/* Whether the section, read to its end, is complete and fits its opcode; gives operands that have
 * none the section's element type. 0, or -1 after a warning. */
int sig_check(struct sig *s);
/* Warns of a line of the section that is being compiled; -1. */
int sig_fail(const struct sig *s, int line, const char *what);
void sig_free(struct sig *s);

/* The signature of a kernel, by name and parameter layout; NULL if there is none. */
const void *sig_find(const struct kernel *k);
/* Does the parameter layout allow what the signature says each argument is? */
bool sig_fits(const struct sig *s, const struct kernel *k);

/* Compiles one word per argument and adds them to s. 0, or -1 with what is accepted in err. */
int sig_args_parse(struct sig *s, const char *words, char *err, unsigned errsize);

#endif
