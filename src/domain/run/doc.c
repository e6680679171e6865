/* The document of a run. */
#include "domain/run/doc.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/pipeline/pipeline.h"
#include "domain/pipeline/template.h"
#include "domain/run/place.h"

static const struct tree no_members = {.kind = TREE_OBJECT, .nodes = 1};

static pawl_status read_object(struct arena *arena, const struct tree *document, int level,
                               struct run_doc *doc, pawl_error *err);

/* ---- Calls of tools */

static pawl_status visit(void *self, const struct template_use *use, pawl_error *err) {
    const char *allowed = self;
    if (use->root == TEMPLATE_PARAMS || use->root == TEMPLATE_ENV || use->root == TEMPLATE_RUN ||
        (use->root == TEMPLATE_ITEM && strstr(allowed, "item") != NULL))
        return PAWL_OK;
    return run_wrong(use->place, err, "'%.*s' is not known here: there are %s", STR_ARG(use->path), allowed);
}

static pawl_status read_call(const struct tree *object, const char *allowed, int64_t timeout_ms,
                             struct run_call *call, pawl_error *err) {
    const struct tree *with = tree_get_cstr(object, "with");
    pawl_status status = run_text(object, "uses", PAWL_NAME_BYTES_MAX, &call->uses, err);
    if (status == PAWL_OK && with != NULL && with->kind != TREE_OBJECT)
        status = run_wrong(with, err, "with must be an object: the tool's arguments");
    if (status == PAWL_OK && with != NULL)
        status = template_walk(with, visit, (void *)allowed, err);
    call->with = with;
    call->timeout_ms = timeout_ms;
    return status == PAWL_OK
               ? run_duration(object, "timeout", 1, RUN_PAGE_TIMEOUT_MS_MAX, &call->timeout_ms, err)
               : status;
}

/* ---- Partitions */

static pawl_status read_plan(struct arena *arena, const struct tree *partitions, struct run_doc *doc,
                             pawl_error *err) {
    static const char *const keys[] = {"list", "range", "dates", "uses", "with", "timeout", NULL};
    const struct tree *found = NULL;
    struct run_parts parts;
    if (partitions->kind == TREE_ARRAY) {
        doc->planner = RUN_PLAN_LIST;
        doc->plan = partitions;
        return run_doc_plan(arena, doc, &parts, err);
    }
    pawl_status status = run_keys(partitions, "partitions", keys, err);
    for (int i = 0; status == PAWL_OK && i < RUN_PLAN_TOOL; i++) {
        const struct tree *member = tree_get_cstr(partitions, keys[i]);
        if (member == NULL)
            continue;
        if (found != NULL)
            return run_wrong(member, err, "partitions are planned in one way: list, range, dates or uses");
        found = member;
        doc->planner = (enum run_planner)(RUN_PLAN_LIST + i);
        doc->plan = member;
    }
    if (status != PAWL_OK)
        return status;
    if (found == NULL)
        return run_wrong(partitions, err, "partitions need a plan: list, range, dates or uses");
    if (doc->planner == RUN_PLAN_TOOL)
        return read_call(partitions, "params, run and env", PAWL_PIPELINE_TIMEOUT_MS_DEFAULT, &doc->plan_call,
                         err);
    if (tree_get_cstr(partitions, "with") != NULL || tree_get_cstr(partitions, "timeout") != NULL)
        return run_wrong(partitions, err, "with and timeout are for partitions that a tool plans (uses)");
    return run_doc_plan(arena, doc, &parts, err);
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

static pawl_status read_map(const struct tree *page, struct run_page_map *map, pawl_error *err) {
    static const char *const keys[] = {"items", "key", "next", "end", "total", NULL};
    const struct tree *answer = tree_get_cstr(page, "answer");
    pawl_str *const paths[] = {&map->items, &map->key, &map->next, &map->end, &map->total};
    if (answer == NULL)
        return PAWL_OK;
    pawl_status status = run_keys(answer, "answer", keys, err);
    for (int i = 0; status == PAWL_OK && keys[i] != NULL; i++) {
        const struct tree *nothing = NULL;
        pawl_error why = {0};
        char full[PAWL_PATTERN_BYTES_MAX + 8] = "item.";
        status = run_text(answer, keys[i], PAWL_PATTERN_BYTES_MAX, paths[i], err);
        if (status != PAWL_OK || str_absent(*paths[i]))
            continue;
        memcpy(full + (paths[i]->ptr[0] == '[' ? 4 : 5), paths[i]->ptr, paths[i]->len);
        if (template_resolve(str_from(full), &(struct template_scope){.item = &no_members}, &nothing, &why) !=
            PAWL_OK)
            status = run_wrong(tree_get_cstr(answer, keys[i]), err,
                               "%s must be a path such as data.rows or [0].id", keys[i]);
    }
    return status;
}

static pawl_status read_page(const struct tree *page, struct run_doc *doc, pawl_error *err) {
    static const char *const keys[] = {"uses", "sql", "with",   "size",     "deadline",
                                       "by",   "end", "answer", "attempts", NULL};
    static const char *const ways[] = {"cursor", "offset", NULL};
    static const char *const ends[] = {"handler", "short", NULL};
    int64_t size = PAWL_PAGE_SIZE_DEFAULT, attempts = PAWL_PAGE_ATTEMPTS_DEFAULT;
    int way = 0, end = 0;
    pawl_status status = run_keys(page, "page", keys, err);
    if (status == PAWL_OK)
        status = run_number(page, "size", 1, PAWL_PAGE_SIZE_MAX, &size, err);
    if (status == PAWL_OK)
        status = run_number(page, "attempts", 1, PAWL_ATTEMPTS_MAX, &attempts, err);
    doc->deadline_ms = PAWL_PAGE_DEADLINE_MS_DEFAULT;
    if (status == PAWL_OK)
        status = run_duration(page, "deadline", 100, RUN_PAGE_TIMEOUT_MS_MAX, &doc->deadline_ms, err);
    if (status == PAWL_OK)
        status = run_choice(page, "by", ways, &way, err);
    if (status == PAWL_OK)
        status = run_choice(page, "end", ends, &end, err);
    if (status == PAWL_OK)
        status = read_map(page, &doc->map, err);
    if (status == PAWL_OK)
        status =
            read_call(page, "params, item (the partition), run and env", doc->deadline_ms, &doc->fetch, err);
    if (status == PAWL_OK)
        status = run_text(page, "sql", PAWL_NAME_BYTES_MAX, &doc->fetch_sql, err);
    if (status == PAWL_OK && str_absent(doc->fetch.uses) == str_absent(doc->fetch_sql))
        status = run_wrong(page, err, "a page is fetched by uses (a tool) or by sql (a named statement)");
    doc->page_size = (int)size;
    doc->attempts = (int)attempts;
    doc->paging = way == 0 ? RUN_BY_CURSOR : RUN_BY_OFFSET;
    doc->end = end == 0 ? RUN_END_SAID : RUN_END_SHORT;
    return status;
}

/* ---- How fast */

/* {"requests": 50, "per": "1s"}, or a plain number: requests per second. */
static pawl_status read_rate(const struct tree *document, struct run_rate_policy *rate, pawl_error *err) {
    static const char *const keys[] = {"requests", "per", NULL};
    const struct tree *value = tree_get_cstr(document, "rate");
    int64_t requests = 0;
    rate->rate_ms = 1000;
    if (value == NULL)
        return PAWL_OK;
    pawl_status status = PAWL_OK;
    if (value->kind == TREE_NUMBER) {
        status = run_number(document, "rate", 1, PAWL_JOB_RATE_MAX, &requests, err);
    } else {
        status = run_keys(value, "rate", keys, err);
        if (status == PAWL_OK && tree_get_cstr(value, "requests") == NULL)
            status = run_wrong(value, err, "rate needs requests: how many per time");
        if (status == PAWL_OK)
            status = run_number(value, "requests", 1, PAWL_JOB_RATE_MAX, &requests, err);
        if (status == PAWL_OK)
            status = run_duration(value, "per", 1, 86400000, &rate->rate_ms, err);
    }
    rate->rate = (int)requests;
    return status;
}

/* A number, or {"run": 8, "partition": 1}. */
static pawl_status read_concurrency(const struct tree *document, int *concurrency, pawl_error *err) {
    static const char *const keys[] = {"run", "partition", NULL};
    const struct tree *value = tree_get_cstr(document, "concurrency");
    int64_t number = 0, pages = 1;
    pawl_status status = PAWL_OK;
    if (value != NULL && value->kind != TREE_OBJECT) {
        status = run_number(document, "concurrency", 1, PAWL_PARTITIONS_PER_RUN_MAX, &number, err);
    } else if (value != NULL) {
        status = run_keys(value, "concurrency", keys, err);
        if (status == PAWL_OK)
            status = run_number(value, "run", 1, PAWL_PARTITIONS_PER_RUN_MAX, &number, err);
        if (status == PAWL_OK)
            status = run_number(value, "partition", 1, INT64_MAX, &pages, err);
        if (status == PAWL_OK && pages > 1)
            status =
                run_wrong(tree_get_cstr(value, "partition"), err,
                          "the pages of a partition come one after the other: partition can only be 1; more "
                          "partitions make a run faster");
    }
    *concurrency = (int)number;
    return status;
}

static pawl_status read_flow(const struct tree *document, struct run_doc *doc, pawl_error *err) {
    static const char *const policies[] = {"skip", "partial", "wait", NULL};
    const struct tree *adaptive = tree_get_cstr(document, "adaptive");
    int failed = 0;
    int64_t priority = 0;
    pawl_status status = read_rate(document, &doc->rate, err);
    if (status == PAWL_OK)
        status = read_concurrency(document, &doc->rate.concurrency, err);
    if (status == PAWL_OK && adaptive != NULL && adaptive->kind != TREE_TRUE && adaptive->kind != TREE_FALSE)
        status = run_wrong(adaptive, err, "adaptive must be true or false");
    if (status == PAWL_OK)
        status = run_choice(document, "failed", policies, &failed, err);
    if (status == PAWL_OK)
        status =
            run_number(document, "priority", -PAWL_JOB_PRIORITY_MAX, PAWL_JOB_PRIORITY_MAX, &priority, err);
    if (status == PAWL_OK)
        status = run_text(document, "queue", PAWL_NAME_BYTES_MAX, &doc->queue, err);
    if (status == PAWL_OK)
        status = run_text(document, "announce", PAWL_TYPE_BYTES_MAX, &doc->announce, err);
    if (status == PAWL_OK)
        status = run_text(document, "target", PAWL_NAME_BYTES_MAX, &doc->target, err);
    doc->rate.adaptive = adaptive == NULL ? str_absent(doc->fetch_sql) : adaptive->kind == TREE_TRUE;
    doc->failed = (enum run_failed)(RUN_FAILED_SKIP + failed);
    doc->priority = (int)priority;
    return status;
}

/* ---- Consolidation */

static pawl_status read_consolidate(struct arena *arena, const struct tree *value, int level,
                                    struct run_doc *doc, pawl_error *err) {
    static const char *const keys[] = {"uses", "with", "timeout", "pipeline", "run", NULL};
    const struct pipeline *pipeline = NULL;
    pawl_status status = run_keys(value, "consolidate", keys, err);
    if (status != PAWL_OK)
        return status;
    const struct tree *uses = tree_get_cstr(value, "uses"), *steps = tree_get_cstr(value, "pipeline"),
                      *run = tree_get_cstr(value, "run");
    if ((uses != NULL) + (steps != NULL) + (run != NULL) != 1)
        return run_wrong(value, err, "a run is consolidated by one of uses (a tool), pipeline and run");
    if (uses != NULL) {
        doc->consolidate = RUN_CONSOLIDATE_TOOL;
        return read_call(value, "params, run and env", doc->deadline_ms, &doc->consolidate_call, err);
    }
    if (tree_get_cstr(value, "with") != NULL || tree_get_cstr(value, "timeout") != NULL)
        return run_wrong(value, err, "with and timeout are for a consolidation by a tool (uses)");
    doc->consolidate_document = steps != NULL ? steps : run;
    doc->consolidate = steps != NULL ? RUN_CONSOLIDATE_PIPELINE : RUN_CONSOLIDATE_RUN;
    if (steps != NULL)
        return pipeline_read(arena, steps, &pipeline, err);
    if (level >= RUN_DOC_NESTED_MAX)
        return run_wrong(run, err, "runs are nested at most %d deep", RUN_DOC_NESTED_MAX);
    struct run_doc inner = {0};
    status = read_object(arena, run, level + 1, &inner, err);
    if (status == PAWL_OK && inner.planner == 0)
        status = run_wrong(run, err, "the run has no partitions");
    if (status == PAWL_OK && !str_absent(inner.key))
        status = run_wrong(tree_get_cstr(run, "key"), err, "a nested run cannot have a key");
    return status;
}

/* ---- The whole */

static pawl_status read_object(struct arena *arena, const struct tree *document, int level,
                               struct run_doc *doc, pawl_error *err) {
    static const char *const keys[] = {"name",     "key",         "params",      "partitions",
                                       "page",     "target",      "rate",        "adaptive",
                                       "failed",   "concurrency", "priority",    "queue",
                                       "announce", "consolidate", "description", NULL};
    pawl_status status = run_keys(document, "a run", keys, err);
    if (status != PAWL_OK)
        return status;
    const struct tree *params = tree_get_cstr(document, "params"), *page = tree_get_cstr(document, "page"),
                      *partitions = tree_get_cstr(document, "partitions"),
                      *consolidate = tree_get_cstr(document, "consolidate");
    doc->document = document;
    doc->params = params != NULL ? params : &no_members;
    status = run_text(document, "name", PAWL_NAME_BYTES_MAX, &doc->name, err);
    if (status == PAWL_OK && str_absent(doc->name))
        status = run_wrong(document, err, "the run has no name");
    if (status == PAWL_OK)
        status = run_text(document, "key", PAWL_NAME_BYTES_MAX, &doc->key, err);
    if (status == PAWL_OK && doc->params->kind != TREE_OBJECT)
        status = run_wrong(params, err, "params must be an object");
    if (status == PAWL_OK && page == NULL)
        status = run_wrong(document, err, "the run has no page: what fetches one");
    if (status == PAWL_OK)
        status = read_page(page, doc, err);
    if (status == PAWL_OK)
        status = read_flow(document, doc, err);
    if (status == PAWL_OK && partitions != NULL)
        status = read_plan(arena, partitions, doc, err);
    if (status == PAWL_OK && consolidate != NULL)
        status = read_consolidate(arena, consolidate, level, doc, err);
    return status;
}

pawl_status run_doc_read(struct arena *arena, const struct tree *document, struct run_doc *doc,
                         pawl_error *err) {
    struct run_doc read = {0};
    pawl_status status = read_object(arena, document, 1, &read, err);
    if (status == PAWL_OK)
        *doc = read;
    return status;
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
        status = run_wrong(document, err, "the run has no partitions");
    if (status == PAWL_OK)
        *doc = read;
    return status;
}

pawl_status run_doc_spec(struct arena *arena, const struct run_doc *doc, pawl_str *json, pawl_error *err) {
    static const char *const left_out[] = {"key", "params", "partitions", "description"};
    const struct tree **kept = arena_array(arena, doc->document->count + 1, sizeof(struct tree *));
    size_t count = 0;
    struct buf text;
    if (kept == NULL)
        return run_no_memory(err);
    for (size_t i = 0; i < doc->document->count; i++) {
        bool out = false;
        for (size_t k = 0; k < sizeof(left_out) / sizeof(*left_out); k++)
            out = out || str_equal_cstr(doc->document->items[i]->key, left_out[k]);
        if (!out)
            kept[count++] = doc->document->items[i];
    }
    const struct tree *spec = tree_object(arena, kept, count);
    if (spec == NULL)
        return run_no_memory(err);
    buf_init(&text, 0);
    tree_write(&text, spec);
    pawl_status status = buf_status(&text, "run", err);
    if (status == PAWL_OK)
        status = str_dup(arena, buf_str(&text), json, err);
    buf_free(&text);
    return status;
}
