/* Reading and checking the document of a run. */
#include "domain/run/doc.h"

#include <string.h>

#include "base/error.h"
#include "base/json/tree_read.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/pipeline/pipeline.h"
#include "domain/pipeline/template.h"

static void read_object(struct tree_reader *in, const struct tree *document, int level, struct run_doc *doc);

/* ---- Calls of tools */

static pawl_status visit(void *self, const struct template_use *use, pawl_error *err) {
    const char *allowed = self;
    if (use->root == TEMPLATE_PARAMS || use->root == TEMPLATE_ENV || use->root == TEMPLATE_RUN ||
        (use->root == TEMPLATE_ITEM && strstr(allowed, "item") != NULL))
        return PAWL_OK;
    return tree_fault(use->place, "run", err, "'%.*s' is not known here: there are %s", STR_ARG(use->path),
                      allowed);
}

static void read_call(struct tree_reader *in, const struct tree *object, const char *allowed,
                      int64_t timeout_ms, struct run_call *call) {
    tree_read_text(in, object, "uses", PAWL_NAME_BYTES_MAX, &call->uses);
    tree_read_object(in, object, "with", &call->with);
    if (in->status == PAWL_OK && call->with != NULL)
        in->status = template_walk(call->with, visit, (void *)allowed, in->err);
    call->timeout_ms = timeout_ms;
    tree_read_duration(in, object, "timeout", 1, RUN_PAGE_TIMEOUT_MS_MAX, &call->timeout_ms);
}

/* ---- Partitions */

/* Which of list, range, dates and uses it is. */
static void read_planner(struct tree_reader *in, const struct tree *partitions, struct run_doc *doc) {
    static const char *const keys[] = {"list", "range", "dates", "uses", "with", "timeout", NULL};
    tree_read_keys(in, partitions, "partitions", keys);
    for (int i = 0; in->status == PAWL_OK && i < RUN_PLAN_TOOL; i++) {
        const struct tree *member = tree_get_cstr(partitions, keys[i]);
        if (member == NULL)
            continue;
        if (doc->plan != NULL)
            tree_wrong(in, member, "partitions are planned in one way: list, range, dates or uses");
        doc->planner = (enum run_planner)(RUN_PLAN_LIST + i);
        doc->plan = member;
    }
    if (doc->plan == NULL)
        tree_wrong(in, partitions, "partitions need a plan: list, range, dates or uses");
    else if (doc->planner == RUN_PLAN_TOOL)
        read_call(in, partitions, "params, run and env", PAWL_PIPELINE_TIMEOUT_MS_DEFAULT, &doc->plan_call);
    else if (tree_get_cstr(partitions, "with") != NULL || tree_get_cstr(partitions, "timeout") != NULL)
        tree_wrong(in, partitions, "with and timeout are for partitions that a tool plans (uses)");
}

static void read_plan(struct tree_reader *in, const struct tree *partitions, struct run_doc *doc) {
    struct run_parts parts;
    if (partitions->kind == TREE_ARRAY) {
        doc->planner = RUN_PLAN_LIST;
        doc->plan = partitions;
    } else {
        read_planner(in, partitions, doc);
    }
    if (in->status == PAWL_OK && doc->planner != RUN_PLAN_TOOL)
        in->status = run_doc_plan(in->arena, doc, &parts, in->err);
}

pawl_status run_doc_plan(struct arena *arena, const struct run_doc *doc, struct run_parts *parts,
                         pawl_error *err) {
    switch (doc->planner) {
    case RUN_PLAN_LIST:
        return run_plan_list(arena, doc->plan, parts, err);
    case RUN_PLAN_RANGE:
        return run_plan_range(arena, doc->plan, parts, err);
    case RUN_PLAN_DATES:
        return run_plan_dates(arena, doc->plan, parts, err);
    default:
        return error_set(err, PAWL_CONFLICT, "run", "the partitions are planned by a tool");
    }
}

/* ---- Pages */

static void read_map(struct tree_reader *in, const struct tree *page, struct run_page_map *map) {
    static const char *const keys[] = {"items", "key", "next", "end", "total", NULL};
    const struct tree *answer = tree_get_cstr(page, "answer"), *nothing = NULL;
    pawl_str *const paths[] = {&map->items, &map->key, &map->next, &map->end, &map->total};
    if (answer == NULL)
        return;
    tree_read_keys(in, answer, "answer", keys);
    for (int i = 0; in->status == PAWL_OK && keys[i] != NULL; i++) {
        char full[PAWL_PATTERN_BYTES_MAX + 8] = "item.";
        tree_read_text(in, answer, keys[i], PAWL_PATTERN_BYTES_MAX, paths[i]);
        if (in->status != PAWL_OK || str_absent(*paths[i]))
            continue;
        memcpy(full + (paths[i]->ptr[0] == '[' ? 4 : 5), paths[i]->ptr, paths[i]->len);
        if (template_resolve(str_from(full), &(struct template_scope){.item = &tree_empty}, &nothing, NULL) !=
            PAWL_OK)
            tree_wrong(in, tree_get_cstr(answer, keys[i]), "%s must be a path such as data.rows or [0].id",
                       keys[i]);
    }
}

static void read_page(struct tree_reader *in, const struct tree *page, struct run_doc *doc) {
    static const char *const keys[] = {"uses", "sql", "with",   "size",     "deadline",
                                       "by",   "end", "answer", "attempts", NULL};
    static const char *const ways[] = {"cursor", "offset", NULL};
    static const char *const ends[] = {"handler", "short", NULL};
    int way = 0, end = 0;
    doc->page_size = PAWL_PAGE_SIZE_DEFAULT;
    doc->attempts = PAWL_PAGE_ATTEMPTS_DEFAULT;
    doc->deadline_ms = PAWL_PAGE_DEADLINE_MS_DEFAULT;
    tree_read_keys(in, page, "page", keys);
    tree_read_int(in, page, "size", 1, PAWL_PAGE_SIZE_MAX, &doc->page_size);
    tree_read_int(in, page, "attempts", 1, PAWL_ATTEMPTS_MAX, &doc->attempts);
    tree_read_duration(in, page, "deadline", 100, RUN_PAGE_TIMEOUT_MS_MAX, &doc->deadline_ms);
    tree_read_choice(in, page, "by", ways, &way);
    tree_read_choice(in, page, "end", ends, &end);
    read_map(in, page, &doc->map);
    read_call(in, page, "params, item (the partition), run and env", doc->deadline_ms, &doc->fetch);
    tree_read_text(in, page, "sql", PAWL_NAME_BYTES_MAX, &doc->fetch_sql);
    if (str_absent(doc->fetch.uses) == str_absent(doc->fetch_sql))
        tree_wrong(in, page, "a page is fetched by uses (a tool) or by sql (a named statement)");
    doc->paging = way == 0 ? RUN_BY_CURSOR : RUN_BY_OFFSET;
    doc->end = end == 0 ? RUN_END_SAID : RUN_END_SHORT;
}

/* ---- How fast */

/* {"requests": 50, "per": "1s"}, or a plain number: requests per second. */
static void read_rate(struct tree_reader *in, const struct tree *document, struct run_rate_policy *rate) {
    static const char *const keys[] = {"requests", "per", NULL};
    const struct tree *value = tree_get_cstr(document, "rate");
    rate->rate_ms = 1000;
    if (value == NULL)
        return;
    if (value->kind == TREE_NUMBER) {
        tree_read_int(in, document, "rate", 1, PAWL_JOB_RATE_MAX, &rate->rate);
        return;
    }
    tree_read_keys(in, value, "rate", keys);
    if (tree_get_cstr(value, "requests") == NULL)
        tree_wrong(in, value, "rate needs requests: how many per time");
    tree_read_int(in, value, "requests", 1, PAWL_JOB_RATE_MAX, &rate->rate);
    tree_read_duration(in, value, "per", 1, 86400000, &rate->rate_ms);
}

/* A number, or {"run": 8, "partition": 1}. */
static void read_concurrency(struct tree_reader *in, const struct tree *document, int *concurrency) {
    static const char *const keys[] = {"run", "partition", NULL};
    const struct tree *value = tree_get_cstr(document, "concurrency");
    int64_t pages = 1;
    if (value == NULL)
        return;
    if (value->kind != TREE_OBJECT) {
        tree_read_int(in, document, "concurrency", 1, PAWL_PARTITIONS_PER_RUN_MAX, concurrency);
        return;
    }
    tree_read_keys(in, value, "concurrency", keys);
    tree_read_int(in, value, "run", 1, PAWL_PARTITIONS_PER_RUN_MAX, concurrency);
    tree_read_number(in, value, "partition", 1, INT64_MAX, &pages);
    if (pages > 1)
        tree_wrong(in, tree_get_cstr(value, "partition"),
                   "the pages of a partition come one after the other: partition can only be 1; more "
                   "partitions make a run faster");
}

static void read_flow(struct tree_reader *in, const struct tree *document, struct run_doc *doc) {
    static const char *const policies[] = {"skip", "partial", "wait", NULL};
    int failed = 0;
    read_rate(in, document, &doc->rate);
    read_concurrency(in, document, &doc->rate.concurrency);
    doc->rate.adaptive = str_absent(doc->fetch_sql);
    tree_read_bool(in, document, "adaptive", &doc->rate.adaptive);
    tree_read_choice(in, document, "failed", policies, &failed);
    tree_read_int(in, document, "priority", -PAWL_JOB_PRIORITY_MAX, PAWL_JOB_PRIORITY_MAX, &doc->priority);
    tree_read_text(in, document, "queue", PAWL_NAME_BYTES_MAX, &doc->queue);
    tree_read_text(in, document, "announce", PAWL_TYPE_BYTES_MAX, &doc->announce);
    tree_read_text(in, document, "target", PAWL_NAME_BYTES_MAX, &doc->target);
    doc->failed = (enum run_failed)(RUN_FAILED_SKIP + failed);
}

/* ---- Consolidation */

static void check_inner_run(struct tree_reader *in, const struct tree *run, int level) {
    struct run_doc inner = {0};
    if (level >= RUN_DOC_NESTED_MAX)
        tree_wrong(in, run, "runs are nested at most %d deep", RUN_DOC_NESTED_MAX);
    else
        read_object(in, run, level + 1, &inner);
    if (inner.planner == 0)
        tree_wrong(in, run, "the run has no partitions");
    if (!str_absent(inner.key))
        tree_wrong(in, tree_get_cstr(run, "key"), "a nested run cannot have a key");
}

static void read_consolidate(struct tree_reader *in, const struct tree *value, int level,
                             struct run_doc *doc) {
    static const char *const keys[] = {"uses", "with", "timeout", "pipeline", "run", NULL};
    const struct pipeline *pipeline = NULL;
    tree_read_keys(in, value, "consolidate", keys);
    const struct tree *uses = tree_get_cstr(value, "uses"), *steps = tree_get_cstr(value, "pipeline"),
                      *run = tree_get_cstr(value, "run");
    if ((uses != NULL) + (steps != NULL) + (run != NULL) != 1)
        tree_wrong(in, value, "a run is consolidated by one of uses (a tool), pipeline and run");
    if (uses != NULL) {
        doc->consolidate = RUN_CONSOLIDATE_TOOL;
        read_call(in, value, "params, run and env", doc->deadline_ms, &doc->consolidate_call);
        return;
    }
    if (tree_get_cstr(value, "with") != NULL || tree_get_cstr(value, "timeout") != NULL)
        tree_wrong(in, value, "with and timeout are for a consolidation by a tool (uses)");
    doc->consolidate_document = steps != NULL ? steps : run;
    doc->consolidate = steps != NULL ? RUN_CONSOLIDATE_PIPELINE : RUN_CONSOLIDATE_RUN;
    if (in->status != PAWL_OK)
        return;
    if (steps != NULL)
        in->status = pipeline_read(in->arena, steps, &pipeline, in->err);
    else
        check_inner_run(in, run, level);
}

/* ---- The whole */

static void read_object(struct tree_reader *in, const struct tree *document, int level, struct run_doc *doc) {
    static const char *const keys[] = {"name",     "key",         "params",      "partitions",
                                       "page",     "target",      "rate",        "adaptive",
                                       "failed",   "concurrency", "priority",    "queue",
                                       "announce", "consolidate", "description", NULL};
    tree_read_keys(in, document, "a run", keys);
    const struct tree *page = tree_get_cstr(document, "page"),
                      *partitions = tree_get_cstr(document, "partitions"),
                      *consolidate = tree_get_cstr(document, "consolidate");
    doc->document = document;
    doc->params = &tree_empty;
    tree_read_text(in, document, "name", PAWL_NAME_BYTES_MAX, &doc->name);
    if (str_absent(doc->name))
        tree_wrong(in, document, "the run has no name");
    tree_read_text(in, document, "key", PAWL_NAME_BYTES_MAX, &doc->key);
    tree_read_object(in, document, "params", &doc->params);
    if (page == NULL)
        tree_wrong(in, document, "the run has no page: what fetches one");
    if (in->status == PAWL_OK)
        read_page(in, page, doc);
    read_flow(in, document, doc);
    if (in->status == PAWL_OK && partitions != NULL)
        read_plan(in, partitions, doc);
    if (in->status == PAWL_OK && consolidate != NULL)
        read_consolidate(in, consolidate, level, doc);
}

pawl_status run_doc_read(struct arena *arena, const struct tree *document, struct run_doc *doc,
                         pawl_error *err) {
    struct tree_reader in = {.arena = arena, .op = "run", .err = err};
    struct run_doc read = {0};
    read_object(&in, document, 1, &read);
    if (in.status == PAWL_OK)
        *doc = read;
    return in.status;
}

pawl_status run_doc_parse(struct arena *arena, pawl_str text, bool yaml, struct run_doc *doc,
                          pawl_error *err) {
    const struct tree *document = NULL;
    if (text.len > RUN_DOC_BYTES_MAX)
        return error_set(err, PAWL_INVALID, "run", "the document has %zu bytes: at most %d are allowed",
                         text.len, RUN_DOC_BYTES_MAX);
    pawl_status status = yaml ? tree_parse_yaml(arena, text, NULL, &document, err)
                              : tree_parse(arena, text, NULL, &document, err);
    struct run_doc read = {0};
    if (status == PAWL_OK)
        status = run_doc_read(arena, document, &read, err);
    if (status == PAWL_OK && read.planner == 0)
        status = tree_fault(document, "run", err, "the run has no partitions");
    if (status == PAWL_OK)
        *doc = read;
    return status;
}

pawl_status run_doc_spec(struct arena *arena, const struct run_doc *doc, pawl_str *json, pawl_error *err) {
    static const char *const left_out[] = {"key", "params", "partitions", "description"};
    const struct tree **kept = arena_array(arena, doc->document->count + 1, sizeof(struct tree *));
    size_t count = 0;
    if (kept == NULL)
        return error_no_memory(err, "run");
    for (size_t i = 0; i < doc->document->count; i++) {
        bool out = false;
        for (size_t k = 0; k < sizeof(left_out) / sizeof(*left_out); k++)
            out = out || str_equal_cstr(doc->document->items[i]->key, left_out[k]);
        if (!out)
            kept[count++] = doc->document->items[i];
    }
    const struct tree *spec = tree_object(arena, kept, count);
    return spec != NULL ? tree_text(arena, spec, 0, json, err) : error_no_memory(err, "run");
}
