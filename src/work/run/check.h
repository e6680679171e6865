/* Whether the run that a document describes could work: its tools, statements, templates and arguments. */
#ifndef WORK_RUN_CHECK_H
#define WORK_RUN_CHECK_H

#include "domain/run/doc.h"
#include "handler/tools/tools.h"
#include "store/store.h"

struct run_check {
    const struct run_doc *doc;
    const struct tree *params;     /* NULL = the document's */
    const struct run_parts *parts; /* NULL = not known yet */
    struct tools *tools;           /* NULL = only the worker knows them */
    struct tool_wait wait;         /* bounds asking MCP servers */
    struct store *store;           /* NULL = its statements are not looked for */
};

/* PAWL_INVALID, PAWL_NOT_FOUND: what can never work, and where it is. */
PAWL_MUSTCHECK pawl_status run_check(const struct run_check *in, struct arena *arena, pawl_error *err);

#endif
