/* JSON values as a tree in an arena: numbers keep their text, and every value knows its location in the
 * document. */
#ifndef BASE_JSON_TREE_H
#define BASE_JSON_TREE_H

#include "base/arena.h"
#include "base/buf.h"
#include "pawl.h"

enum tree_kind { TREE_NULL, TREE_FALSE, TREE_TRUE, TREE_NUMBER, TREE_STRING, TREE_ARRAY, TREE_OBJECT };

/* Never changed once it is part of a tree, so trees share parts. Lives as long as its arena. */
struct tree {
    enum tree_kind kind;
    uint32_t line, column; /* from 1, where the value starts; 0 = created, not read */
    uint32_t depth;        /* levels: 0 for a scalar and for what is empty, 1 for [1] */
    uint32_t nodes;        /* this value and all below it, counted as often as they would be written */
    pawl_str text;         /* of a string (decoded) or a number (as it was written) */
    pawl_str key;          /* of a member of an object; absent elsewhere */
    size_t count;
    const struct tree **items;  /* in the document's order */
    const struct tree **sorted; /* objects: by key, in byte order */
};

/* null, and an object without members. */
extern const struct tree tree_null, tree_empty;

/* What may be read. Zero means the limit of base/limits.h. */
struct tree_limits {
    size_t depth_max;
    size_t nodes_max;
    bool allow_nul; /* \u0000 in strings: valid JSON, but no database stores it */
};

/* Reads one JSON value (RFC 8259, UTF-8, no key twice in an object). limits may be NULL. PAWL_INVALID says
 * line, column and why. */
PAWL_MUSTCHECK pawl_status tree_parse(struct arena *arena, pawl_str text, const struct tree_limits *limits,
                                      const struct tree **tree, pawl_error *err);

/* The same for YAML (1.2 core schema, one document): docs/pipelines.md describes the supported subset. */
PAWL_MUSTCHECK pawl_status tree_parse_yaml(struct arena *arena, pawl_str text,
                                           const struct tree_limits *limits, const struct tree **tree,
                                           pawl_error *err);

/* Appends the value as JSON without blanks; sorted: with the members of every object in the order of their
 * keys, which is the same text for the same value. */
void tree_write(struct buf *buf, const struct tree *tree);
void tree_write_sorted(struct buf *buf, const struct tree *tree);

/* Reads what was written into the buffer, which is freed in every case. op: for the error. */
PAWL_MUSTCHECK pawl_status tree_parse_buf(struct arena *arena, struct buf *written, const char *op,
                                          const struct tree **tree, pawl_error *err);

/* The same as text in the arena, of at most bytes_max bytes (0: PAWL_BUF_BYTES_MAX). */
PAWL_MUSTCHECK pawl_status tree_text(struct arena *arena, const struct tree *tree, size_t bytes_max,
                                     pawl_str *json, pawl_error *err);

/* The member of an object, or NULL (also when tree is NULL or no object). */
const struct tree *tree_get(const struct tree *tree, pawl_str key);
const struct tree *tree_get_cstr(const struct tree *tree, const char *key);

/* The text of a member that is a string; absent elsewhere. */
pawl_str tree_get_text(const struct tree *tree, const char *key);

/* A member that is a whole number: its value, else 0; and whether a member is true. */
int64_t tree_get_i64(const struct tree *tree, const char *key);
bool tree_get_true(const struct tree *tree, const char *key);

/* The first member of an object whose key is none of keys (ends with NULL), or NULL. */
const struct tree *tree_stray(const struct tree *tree, const char *const *keys);

/* The index of a key in sorted; count when it is missing. tree is an object. */
size_t tree_index(const struct tree *tree, pawl_str key);

/* An order of values in which those that are equal as JSON, such as 1 and 1.0, compare as 0; the order of
 * members does not matter. */
int tree_compare(const struct tree *a, const struct tree *b);
static inline bool tree_equal(const struct tree *a, const struct tree *b) { return tree_compare(a, b) == 0; }

/* The member of an object, or the item of an array whose index the step is in digits; NULL: there is none. */
const struct tree *tree_step(const struct tree *tree, pawl_str step);

/* "null", "boolean", "number", "string", "array", "object". */
const char *tree_kind_name(enum tree_kind kind);

/* Making trees: NULL when there is no memory. */
struct tree *tree_scalar(struct arena *arena, enum tree_kind kind, pawl_str text);
struct tree *tree_from_i64(struct arena *arena, int64_t value);
/* Uses the items as they are; in an object every item has its key. NULL also if a key occurs twice. */
struct tree *tree_array(struct arena *arena, const struct tree **items, size_t count);
struct tree *tree_object(struct arena *arena, const struct tree **items, size_t count);

/* An object of up to TREE_PAIRS_MAX members; those whose value is NULL are left out. */
enum { TREE_PAIRS_MAX = 4 };
struct tree_pair {
    const char *key;
    const struct tree *value;
};
struct tree *tree_of_pairs(struct arena *arena, const struct tree_pair *pairs, size_t count);
/* The same value under another key: shares everything below. */
struct tree *tree_with_key(struct arena *arena, const struct tree *tree, pawl_str key);

/* A copy that shares nothing, not even with itself. NULL when there is no memory. */
const struct tree *tree_copy(struct arena *arena, const struct tree *tree);

/* Numbers, exactly: -1, 0, 1 as a is less, equal, greater. Both are texts of JSON numbers. */
int tree_number_compare(pawl_str a, pawl_str b);
bool tree_number_is_integer(pawl_str number); /* 1.0 and 1e2 are */
/* Whether number is a multiple of divisor, exactly; divisor has at most 18 digits and is not 0. */
bool tree_number_is_multiple(pawl_str number, pawl_str divisor);
/* The whole number as int64_t; false when it has a fraction or does not fit. */
PAWL_MUSTCHECK bool tree_to_i64(const struct tree *tree, int64_t *value);

#endif
