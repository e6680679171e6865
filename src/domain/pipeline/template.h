/* Templates: ${params.x}, ${steps.id.path}, ${env.NAME} in a document, replaced by JSON values. */
#ifndef DOMAIN_PIPELINE_TEMPLATE_H
#define DOMAIN_PIPELINE_TEMPLATE_H

#include "base/json/tree.h"
#include "pawl.h"

/* What templates and conditions can refer to. Each is an object, or NULL for an empty one, except item and
 * index, which exist only inside a foreach. docs/pipelines.md has the language. */
struct template_scope {
    const struct tree *params;
    const struct tree *steps;  /* id → output of a step that succeeded */
    const struct tree *status; /* id → "succeeded", "failed", "skipped": for conditions */
    const struct tree *env;    /* only allowed names */
    const struct tree *run;    /* what the caller provides about this run: id, attempt, … */
    const struct tree *item, *index;
};

/*
 * A copy of value with every template replaced. "${path}" alone becomes the value itself, of any kind; inside
 * text, a string, number, true or false becomes part of the text, anything else is refused. $${ is a plain
 * ${. "${path ?? literal}" is the literal when the path does not exist or is null. Inserted values are never
 * expanded again. PAWL_INVALID names the location and the path that does not exist.
 */
PAWL_MUSTCHECK pawl_status template_fill(struct arena *arena, const struct tree *value,
                                         const struct template_scope *scope, const struct tree **filled,
                                         pawl_error *err);

/* What a template or condition refers to; bits of template_uses.roots. */
enum template_root {
    TEMPLATE_PARAMS = 1,
    TEMPLATE_STEPS = 2,
    TEMPLATE_STATUS = 4,
    TEMPLATE_ENV = 8,
    TEMPLATE_RUN = 16,
    TEMPLATE_ITEM = 32,
    TEMPLATE_INDEX = 64,
};

/* One path as written: ${steps.fetch.body[0]} has root STEPS and name "fetch". */
struct template_use {
    enum template_root root;
    pawl_str name; /* the first segment after the root; absent for the root alone */
    pawl_str path; /* all of it, as it is written */
    bool optional; /* it has a ?? or is in a condition: it may be missing */
    bool alone;    /* it is the whole text, or in a condition: any type of value is allowed */
    const struct tree *place;
};

/* Calls visit for every path in value, in order; stops at the first status that is not PAWL_OK and returns
 * it. PAWL_INVALID when a template is malformed. */
typedef pawl_status (*template_visit)(void *self, const struct template_use *use, pawl_error *err);
PAWL_MUSTCHECK pawl_status template_walk(const struct tree *value, template_visit visit, void *self,
                                         pawl_error *err);

/* Whether a known value may be inserted at this use (NULL: it does not exist). PAWL_INVALID names the
 * location, and why not. where: "in the parameters". */
PAWL_MUSTCHECK pawl_status template_fits(const struct template_use *use, const struct tree *value,
                                         const char *where, pawl_error *err);

/* The value at a path such as "params.x[0]", or NULL when it does not exist; PAWL_INVALID when it is
 * malformed. */
PAWL_MUSTCHECK pawl_status template_resolve(pawl_str path, const struct template_scope *scope,
                                            const struct tree **value, pawl_error *err);

#endif
