/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled signature (sig.h says what people write), shared by compiler and decoder. */
#ifndef AF_MATCHER_SIG_TABLE_H
#define AF_MATCHER_SIG_TABLE_H

#include "matcher/sig.h"

enum {
	SIG_MAX_ARGS = 32,
	SIG_MAX_TERMS = 8,
};

enum sig_term_kind {
	TERM_NUMBER,
	TERM_ROLE,  /* value: enum role of an argument */
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

struct sig_arg {
	uint8_t role;  /* enum role; ROLE_NONE for "-"; "inout" is ROLE_out with inout set */
	uint8_t dtype; /* enum dtype, of an operand */
	bool inout;
	enum { SIG_ANY, SIG_INTEGER, SIG_REAL } demand;
	int64_t integer;
	double real;
};

struct sig {
	char *label;
	const char *file; /* the configuration's, and line: for messages while compiling */
	int line;
	char **match;
	unsigned nmatch;
	enum opcode code;
	unsigned narg;
	struct sig_arg arg[SIG_MAX_ARGS];
	int8_t at[ROLE_COUNT]; /* argument with that role, or -1; in0 of an inout is where out is */
	uint8_t dtype;         /* of operands without their own, while compiling */
	struct sig_expr n, rows, cols;
	double eps;
	bool has_eps;
	struct sig *next;
};

/* Index space of an opcode and the operands its signature must name. */
struct sig_form {
	bool known;         /* false: signatures cannot have this opcode */
	bool by_rows;       /* rows x cols (else n elements) */
	uint8_t operand[4]; /* roles, out first, the rest 0; weight has cols elements */
};
const struct sig_form *sig_form(enum opcode code);

/* Compiles `cols * grid.y / 2`. 0, or -1 with what is accepted in err. */
int sig_expr_parse(struct sig_expr *e, const char *text, char *err, unsigned errsize);
/* The value for a launch whose arguments were read into role_value. False: overflow, a division
 * with a remainder or by zero. */
bool sig_expr_value(const struct sig_expr *e, const struct launch *l,
		    const int64_t role_value[ROLE_COUNT], int64_t *value);

/* Compiles one section; NULL if it is bad (it was warned about) or memory runs out. */
struct sig *sig_from_section(const struct config_kernel *k);
void sig_free(struct sig *s);

/* The signature of a kernel, by name and parameter layout; NULL if there is none. */
const void *sig_find(const struct kernel *k);

/* Compiles one word per argument and adds them to s. 0, or -1 with what is accepted in err. */
int sig_args_parse(struct sig *s, const char *words, char *err, unsigned errsize);

#endif
