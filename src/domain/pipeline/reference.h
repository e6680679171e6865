/* Parsing and following paths such as steps.fetch.body[0], for templates and conditions. */
#ifndef DOMAIN_PIPELINE_REFERENCE_H
#define DOMAIN_PIPELINE_REFERENCE_H

#include "base/limits.h"
#include "domain/pipeline/template.h"

struct reference {
    enum template_root root;
    pawl_str segments[PAWL_TEMPLATE_SEGMENTS_MAX];
    size_t count;
    pawl_str text; /* as it is written */
};

/* Reads a path from *at on and moves *at after it. NULL, or what is wrong at *at. */
const char *reference_read(pawl_str text, size_t *at, struct reference *reference);

/* The value, or NULL when there is none; *missing (may be NULL) is then the number of the segment that is not
 * there. */
const struct tree *reference_follow(const struct reference *reference, const struct template_scope *scope,
                                    size_t *missing);

/* A literal: a JSON number, true, false, null, or text in "…" or '…' without escapes. Moves *at after it.
 * NULL with *wrong set, or NULL alone when there is no memory. */
const struct tree *reference_literal(struct arena *arena, pawl_str text, size_t *at, const char **wrong);

/* Converts a path to a use, for callers that collect references. */
struct template_use reference_use(const struct reference *reference, const struct tree *place, bool optional);

bool reference_is_name_char(char c);

#endif
