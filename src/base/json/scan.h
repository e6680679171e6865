/* JSON text, token by token: what the validator and the reader of trees share. Allocates nothing, does not
 * recurse. */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include "base/json/tree.h"
#include "pawl.h"

enum { JSON_SCAN_LEVELS = 128 };

enum json_expect { EXPECT_VALUE, EXPECT_FIRST, EXPECT_KEY, EXPECT_COLON, EXPECT_COMMA, EXPECT_NOTHING };

/* Set text, depth_max (at most JSON_SCAN_LEVELS) and line (1); the rest is zero. */
struct json_scan {
    pawl_str text;
    size_t at;
    size_t line, line_at; /* line_at: where the line starts */
    size_t depth, depth_max;
    bool allow_nul; /* \u0000 */
    enum json_expect expect;
    bool in_object[JSON_SCAN_LEVELS];
    const char *reason; /* of the fault at `at` */
    bool too_deep;      /* that is the fault */
};

enum json_token_kind { TOKEN_VALUE, TOKEN_KEY, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_END };

struct json_token {
    enum json_token_kind kind;
    enum tree_kind type; /* of a value, or what opens or closes */
    pawl_str raw;        /* with the quotes of a string */
    size_t line, column; /* from 1 */
};

/* The next token, TOKEN_END after the whole value. False: a fault. */
PAWL_MUSTCHECK bool json_next(struct json_scan *scan, struct json_token *token);

/* What a string token stands for, written to out, which has room for its raw length; returns the length. */
size_t json_unescape(pawl_str raw, char *out);

#endif
