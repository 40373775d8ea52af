/* SPDX-License-Identifier: Apache-2.0 */
/* Why a group is not fused: one closed list, each with a word for reports and a sentence. */
#ifndef AF_MATCHER_REASON_H
#define AF_MATCHER_REASON_H

enum reason {
#define REASON(id, word, text) REASON_##id,
#include "matcher/reason.def"
#undef REASON
	REASON_COUNT
};

const char *reason_word(enum reason r);
const char *reason_text(enum reason r);
/* The reason with that word, or REASON_COUNT. */
enum reason reason_parse(const char *word);

#endif
