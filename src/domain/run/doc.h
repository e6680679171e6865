/* The document of a run: how it is split, how pages are fetched, where items are stored, how it is
 * consolidated. */
#ifndef DOMAIN_RUN_DOC_H
#define DOMAIN_RUN_DOC_H

#include "base/json/tree.h"
#include "domain/run/page.h"
#include "domain/run/plan.h"
#include "domain/run/rate.h"
#include "pawl.h"

/* How the run is split. */
enum run_planner { RUN_PLAN_LIST = 1, RUN_PLAN_RANGE, RUN_PLAN_DATES, RUN_PLAN_TOOL };

/* What to do when some partitions failed and none is open. */
enum run_failed { RUN_FAILED_SKIP = 1, RUN_FAILED_PARTIAL, RUN_FAILED_WAIT };

enum run_consolidate {
    RUN_CONSOLIDATE_NONE = 0,
    RUN_CONSOLIDATE_TOOL,
    RUN_CONSOLIDATE_PIPELINE,
    RUN_CONSOLIDATE_RUN
};

/* A tool call; `with` is an object with templates, NULL = pass everything that is known. */
struct run_call {
    pawl_str uses;
    const struct tree *with;
    int64_t timeout_ms;
};

/* Texts and trees live in the arena it was read into. */
struct run_doc {
    pawl_str name;
    pawl_str key;              /* only one run ever has this key; absent = a new run each time */
    const struct tree *params; /* an object, never NULL */
    enum run_planner planner;  /* 0 = the document of a started run, without its partitions */
    const struct tree *plan;
    struct run_call plan_call; /* RUN_PLAN_TOOL */
    struct run_call fetch;     /* uses absent: by sql */
    pawl_str fetch_sql;        /* the name of a statement; absent: by a tool */
    int page_size, attempts;
    int64_t deadline_ms;
    enum run_paging paging;
    enum run_end_rule end;
    struct run_page_map map;
    pawl_str target; /* the name of a statement that stores items; absent = run_item */
    struct run_rate_policy rate;
    pawl_str queue, announce;
    int priority;
    enum run_failed failed;
    enum run_consolidate consolidate;
    struct run_call consolidate_call;        /* RUN_CONSOLIDATE_TOOL */
    const struct tree *consolidate_document; /* RUN_CONSOLIDATE_PIPELINE, RUN_CONSOLIDATE_RUN */
    const struct tree *document;             /* as it was read */
};

enum {
    RUN_DOC_BYTES_MAX = 1048576,
    RUN_DOC_NESTED_MAX = 8, /* runs that consolidate by runs that … */
    RUN_PAGE_TIMEOUT_MS_MAX = 3600000
};

/* Reads and checks a document. PAWL_INVALID names the location and the reason. yaml: the same subset as for
 * pipelines. */
PAWL_MUSTCHECK pawl_status run_doc_parse(struct arena *arena, pawl_str text, bool yaml, struct run_doc *doc,
                                         pawl_error *err);
PAWL_MUSTCHECK pawl_status run_doc_read(struct arena *arena, const struct tree *document, struct run_doc *doc,
                                        pawl_error *err);

/* The partitions; PAWL_CONFLICT if a tool plans them. */
PAWL_MUSTCHECK pawl_status run_doc_plan(struct arena *arena, const struct run_doc *doc,
                                        struct run_parts *parts, pawl_error *err);

/* The document as a run keeps it: JSON without key, params and partitions, which are stored with the run. */
PAWL_MUSTCHECK pawl_status run_doc_spec(struct arena *arena, const struct run_doc *doc, pawl_str *json,
                                        pawl_error *err);

#endif
