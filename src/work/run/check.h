/* Checking before a run starts whether it could work: its tools, statements, templates and arguments. */
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
    struct tool_wait wait;         /* time limit for asking MCP servers */
    struct store *store;           /* NULL = its statements are not checked */
};

/* PAWL_INVALID, PAWL_NOT_FOUND: it can never work; the error says what and where. */
PAWL_MUSTCHECK pawl_status run_check(const struct run_check *in, struct arena *arena, pawl_error *err);

#endif
