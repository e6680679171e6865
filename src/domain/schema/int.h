/* The parts of a compiled schema; for the files of this folder only. */
#ifndef DOMAIN_SCHEMA_INT_H
#define DOMAIN_SCHEMA_INT_H

#include "base/arena.h"
#include "base/json/tree.h"
#include "domain/schema/regex.h"
#include "domain/schema/schema.h"

enum schema_draft { SCHEMA_DRAFT7 = 1, SCHEMA_2020 = 2 };

/* A schema with an address of its own: the document, or a part of it with $id. */
struct schema_resource {
    pawl_str uri; /* without fragment */
    const struct tree *root;
    enum schema_draft draft;
    bool validates;               /* the vocabulary of assertions is in force */
    bool checks_formats;          /* the vocabulary requires it, whatever the configuration */
    struct schema_resource *same; /* this is only another address of that one */
    struct schema_resource *next;
};

struct schema_node;
struct schema_rule;
struct check;
struct frame;

/* What the value of a keyword must look like. */
enum schema_shape {
    SHAPE_ANY,
    SHAPE_SCHEMA,
    SHAPE_SCHEMAS,      /* an array of schemas, not empty */
    SHAPE_SCHEMA_MAP,   /* an object of schemas */
    SHAPE_PATTERN_MAP,  /* the same under regular expressions */
    SHAPE_ITEMS,        /* a schema, or an array of them (draft-07) */
    SHAPE_DEPENDENCIES, /* an object of schemas or lists of names */
    SHAPE_COUNT,        /* 0, 1, 2, … */
    SHAPE_NUMBER,
    SHAPE_DIVISOR, /* a number above 0 of at most 18 digits */
    SHAPE_TYPE,    /* the name of a type or a list of them */
    SHAPE_ARRAY,
    SHAPE_NAMES,     /* an array of strings */
    SHAPE_NAMES_MAP, /* an object of them */
    SHAPE_PATTERN,
    SHAPE_BOOLEAN,
    SHAPE_STRING,
    SHAPE_FORMAT, /* a string; the pattern of the format is prepared */
    SHAPE_REFERENCE,
};

enum schema_limit { LIMIT_AT_MOST, LIMIT_BELOW, LIMIT_AT_LEAST, LIMIT_ABOVE };

/* One keyword: the form of its value, and the function that applies it. In the order of application. */
struct schema_keyword {
    const char *name;
    unsigned drafts; /* enum schema_draft, added up */
    enum schema_shape shape;
    bool asserts;   /* part of the vocabulary "validation" */
    unsigned about; /* the kinds of values it applies to: 1 << enum tree_kind, added up */
    bool (*judge)(struct check *check, const struct schema_rule *rule,
                  const struct frame *frame); /* NULL: handled by another keyword */
    enum schema_limit limit;                  /* of sizes and counts */
};

extern const struct schema_keyword schema_keywords[];
extern const size_t schema_keywords_count;

enum { SCHEMA_INTEGER = 1 << (TREE_OBJECT + 1) }; /* the type that is no kind of its own */

/* A keyword as written in a schema. */
struct schema_rule {
    const struct schema_keyword *keyword;
    const struct tree *value;
    const struct schema_node *
        *nodes; /* per item of value, or member in the order of keys; NULL where there is none */
    const struct regex **regexes;
    size_t count;
    int64_t number;                     /* SHAPE_COUNT */
    unsigned types;                     /* SHAPE_TYPE: 1 << enum tree_kind, and SCHEMA_INTEGER, added up */
    const struct schema_format *format; /* SHAPE_FORMAT; NULL = it is not checked */
    const struct schema_node *owner;
};

/* One schema. */
struct schema_node {
    const struct tree *tree;
    const struct schema_resource *resource;
    pawl_str place; /* JSON pointer in its document */
    struct schema_rule *rules;
    size_t rules_count;
};

struct schema_anchor {
    const struct schema_resource *resource;
    pawl_str name;
    const struct schema_node *node;
    bool dynamic;
    struct schema_anchor *next;
};

struct schema {
    struct arena *arena;
    const struct schema_node *root;
    struct schema_resource *resources;
    struct schema_anchor *anchors;
    struct regex **regexes;
    size_t regexes_count, regexes_cap;
    bool checks_formats;
    bool tracks; /* some keyword is about members or items that others have not evaluated */
};

/* The rule of a keyword in a node, or NULL. */
const struct schema_rule *schema_rule_of(const struct schema_node *node, const char *keyword);

/* Names and anchors in a resource. */
const struct schema_anchor *schema_find_anchor(const struct schema *schema,
                                               const struct schema_resource *resource, pawl_str name);

/* ---- Validation */

/* Where in the value a schema is applied. */
struct path {
    const struct path *parent;
    pawl_str key; /* absent: index */
    size_t index;
};

/* The resources that were entered, innermost first. */
struct scope {
    const struct scope *outer;
    const struct schema_resource *resource;
};

/* Which members or items were evaluated; one bit each. */
struct marks {
    uint64_t *words;
    size_t count;
    uint64_t small; /* used if 64 bits are enough */
};

struct frame {
    const struct schema_node *node;
    const struct tree *value;
    const struct path *path;
    const struct scope *scope;
    struct marks *marks; /* NULL: not wanted */
    unsigned depth;      /* of the value */
};

struct check {
    const struct schema *schema;
    uint64_t steps;
    unsigned calls;
    pawl_status status; /* not PAWL_OK: given up, err says why */
    bool explain;       /* faults are described */
    bool found;
    unsigned fault_depth;
    pawl_error *err;
};

/* Applies another node to a value (or to part of frame's value). False: not valid, or given up. */
bool check_node(struct check *check, const struct schema_node *node, const struct frame *frame);
bool check_part(struct check *check, const struct schema_node *node, const struct frame *frame, size_t index);
/* The same without describing errors, for conditions. */
bool check_quietly(struct check *check, const struct schema_node *node, const struct frame *frame);

/* Counts work; false when there was too much. */
bool check_step(struct check *check);
/* Describes a fault; always false. */
bool check_fault(struct check *check, const struct schema_rule *rule, const struct frame *frame,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Gives up; always false. */
bool check_give_up(struct check *check, pawl_status status);
/* Whether a pattern is found; false also when given up. */
bool check_pattern(struct check *check, const struct regex *regex, pawl_str text);

void marks_init(struct check *check, struct marks *marks, size_t count);
void marks_free(struct marks *marks);
void marks_set(struct marks *marks, size_t index); /* takes NULL */
bool marks_has(const struct marks *marks, size_t index);

/* The functions that apply keywords about items and members (containers.c). */
typedef bool schema_judge(struct check *check, const struct schema_rule *rule, const struct frame *frame);
schema_judge judge_unique_items, judge_prefix_items, judge_items, judge_additional_items, judge_contains,
    judge_required, judge_dependencies, judge_properties, judge_pattern_properties,
    judge_additional_properties, judge_property_names, judge_unevaluated;

/* A format: texts match the pattern, if there is one, and then pass the check, if there is one. */
struct schema_format {
    const char *name, *pattern;
    bool (*check)(pawl_str text);
};
/* NULL for formats that are not known: they say nothing. */
const struct schema_format *schema_format_find(pawl_str name);

#endif
