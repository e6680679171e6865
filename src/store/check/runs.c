/* Checking the input of run operations, with the same errors for every store. */
#include "store/check/runs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "store/check/place.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static pawl_status place_partition(const struct place *at, const struct partition_new *part) {
    static const struct text_rule name = {"partition name", TEXT_NAME, true};
    const struct number_of numbers[] = {{"total", part->total, -1, INT64_MAX / 4},
                                        {"offset", part->offset, 0, INT64_MAX / 4}};
    pawl_status status = place_text(at, &name, part->name);
    if (status == PAWL_OK && part->name.len > PAWL_PARTITION_NAME_BYTES_MAX)
        return place_wrong(at, "the partition name has %zu bytes; at most %d are allowed", part->name.len,
                           PAWL_PARTITION_NAME_BYTES_MAX);
    if (status == PAWL_OK && part->bounded && part->low >= part->high)
        return place_wrong(at, "its bounds %" PRId64 " … %" PRId64 " hold nothing: low must be below high",
                           part->low, part->high);
    if (status == PAWL_OK)
        status = place_numbers(at, numbers, COUNT(numbers));
    if (status == PAWL_OK)
        status = place_json(at, "list of parameters", part->params, PAWL_METADATA_BYTES_MAX);
    if (status == PAWL_OK)
        status = place_json(at, "cursor", part->cursor, PAWL_CURSOR_BYTES_MAX);
    return status;
}

static int by_name(const void *a, const void *b) {
    const struct partition_new *const *x = a, *const *y = b;
    return str_compare((*x)->name, (*y)->name);
}

static int by_low(const void *a, const void *b) {
    const struct partition_new *const *x = a, *const *y = b;
    if ((*x)->bounded != (*y)->bounded)
        return (*x)->bounded ? -1 : 1;
    return (*x)->low < (*y)->low ? -1 : (*x)->low > (*y)->low;
}

/* No two partitions have one name, and no two of those with bounds share a value. */
static pawl_status place_apart(const struct place *at, const struct run_start *in) {
    pawl_status status = PAWL_OK;
    const struct partition_new **order = malloc((in->count + 1) * sizeof *order);
    if (order == NULL)
        return error_set(at->err, PAWL_NO_MEMORY, at->op, "no memory for %zu partitions", in->count);
    for (size_t i = 0; i < in->count; i++)
        order[i] = &in->partitions[i];
    qsort(order, in->count, sizeof *order, by_name);
    for (size_t i = 1; status == PAWL_OK && i < in->count; i++)
        if (str_equal(order[i - 1]->name, order[i]->name))
            status = place_wrong(at, "two partitions are named '%.*s'; a name is used once in a run",
                                 STR_ARG(order[i]->name));
    qsort(order, in->count, sizeof *order, by_low);
    for (size_t i = 1; status == PAWL_OK && i < in->count && order[i]->bounded; i++)
        if (order[i]->low < order[i - 1]->high)
            status = place_wrong(at,
                                 "partitions '%.*s' (%" PRId64 " … %" PRId64 ") and '%.*s' (%" PRId64
                                 " … %" PRId64 ") overlap; high is not part of a partition, so let one begin "
                                 "where the other ends",
                                 STR_ARG(order[i - 1]->name), order[i - 1]->low, order[i - 1]->high,
                                 STR_ARG(order[i]->name), order[i]->low, order[i]->high);
    free(order);
    return status;
}

static pawl_status place_run(const struct place *at, const struct run_start *in) {
    static const struct text_rule name = {"name", TEXT_NAME, true};
    static const struct text_rule key = {"key", TEXT_NAME, false};
    static const struct text_rule type = {"type", TEXT_TYPE, true};
    static const struct text_rule consolidate = {"consolidation type", TEXT_TYPE, false};
    static const struct text_rule announce = {"announcement type", TEXT_TYPE, false};
    static const struct text_rule target = {"target", TEXT_NAME, false};
    static const struct text_rule queue = {"queue", TEXT_NAME, false};
    static const struct text_rule trace = {"traceparent", TEXT_NAME, false};
    static const struct text_rule wait_key = {"wait key", TEXT_NAME, false};
    const struct text_of texts[] = {{&name, in->name},         {&key, in->key},
                                    {&type, in->type},         {&consolidate, in->consolidate},
                                    {&announce, in->announce}, {&target, in->target},
                                    {&queue, in->queue},       {&trace, in->traceparent},
                                    {&wait_key, in->wait_key}};
    const struct number_of numbers[] = {
        {"parent", in->parent, 0, INT64_MAX},
        {"page_size", in->page_size, 0, PAWL_PAGE_SIZE_MAX},
        {"concurrency", in->concurrency, 0, PAWL_JOB_RATE_MAX},
        {"rate", in->rate, 0, PAWL_JOB_RATE_MAX},
        {"rate_ms", in->rate_ms, in->rate > 0 ? 1 : 0, PAWL_LEASE_MS_MAX},
        {"deadline_ms", in->deadline_ms, 0, PAWL_LEASE_MS_MAX},
        {"max_attempts", in->max_attempts, 0, PAWL_ATTEMPTS_MAX},
        {"priority", in->priority, -PAWL_JOB_PRIORITY_MAX, PAWL_JOB_PRIORITY_MAX},
        {"flags", in->flags, 0, JOB_AUDIT | JOB_EVENTS},
        {"end rule", (int64_t)in->end, 0, END_SHORT_PAGE},
        {"policy", (int64_t)in->policy, 0, FAILED_WAIT},
        {"the number of partitions", (int64_t)in->count, 0, PAWL_PARTITIONS_PER_RUN_MAX}};
    pawl_status status = place_texts(at, texts, COUNT(texts));
    if (status == PAWL_OK)
        status = place_numbers(at, numbers, COUNT(numbers));
    if (status == PAWL_OK)
        status = place_json(at, "list of parameters", in->params, PAWL_PAYLOAD_BYTES_DEFAULT);
    if (status == PAWL_OK)
        status = place_json(at, "run document", in->spec, PAWL_PAYLOAD_BYTES_DEFAULT);
    if (status == PAWL_OK && in->count > 0 && in->partitions == NULL)
        status = place_wrong(at, "the call announces %zu partitions but has none", in->count);
    return status;
}

pawl_status check_run_start(const struct run_start *in, pawl_error *err) {
    struct place at = {.op = "run_start", .err = err};
    pawl_status status = place_run(&at, in);
    struct place one = {.op = "run_start", .err = err, .noun = "partition", .count = in->count};
    for (one.index = 0; status == PAWL_OK && one.index < in->count; one.index++)
        status = place_partition(&one, &in->partitions[one.index]);
    return status == PAWL_OK ? place_apart(&at, in) : status;
}

static pawl_status place_page(const struct place *at, const struct page_ref *in) {
    const struct number_of numbers[] = {{"run", in->run, 1, INT64_MAX},
                                        {"part", in->part, 0, PAWL_PARTITIONS_PER_RUN_MAX},
                                        {"generation", in->generation, 0, INT32_MAX},
                                        {"page", in->page, 0, INT64_MAX / 4}};
    pawl_status status = place_instance_id(at, in->instance);
    return status == PAWL_OK ? place_numbers(at, numbers, COUNT(numbers)) : status;
}

pawl_status check_page_ref(const char *op, const struct page_ref *in, pawl_error *err) {
    struct place at = {.op = op, .err = err};
    return place_page(&at, in);
}

static pawl_status place_item(const struct place *at, const struct run_item *item) {
    if (str_absent(item->key) || item->key.len == 0)
        return place_wrong(at, "it has no key; the handler must give every item one, or it could be stored "
                               "twice");
    if (item->key.len > PAWL_ITEM_KEY_BYTES_MAX)
        return place_wrong(at, "its key has %zu bytes; at most %d are allowed", item->key.len,
                           PAWL_ITEM_KEY_BYTES_MAX);
    pawl_status status = place_error_text(at, item->key);
    return status == PAWL_OK ? place_json(at, "payload", item->payload, PAWL_PAYLOAD_BYTES_MAX) : status;
}

pawl_status check_page_commit(const struct page_commit *in, pawl_error *err) {
    struct place at = {.op = "page_commit", .err = err, .count = in->count};
    const struct number_of numbers[] = {{"more", (int64_t)in->more, MORE_BY_RULE, MORE_NO},
                                        {"fetch_ms", in->fetch_ms, 0, INT64_MAX / 4}};
    pawl_status status = place_page(&at, &in->ref);
    if (status == PAWL_OK)
        status = place_numbers(&at, numbers, COUNT(numbers));
    if (status == PAWL_OK)
        status = place_json(&at, "cursor", in->cursor, PAWL_CURSOR_BYTES_MAX);
    if (status == PAWL_OK)
        status = place_count(&at, "items", in->count, in->items);
    at.noun = "item";
    for (at.index = 0; status == PAWL_OK && at.index < in->count; at.index++)
        status = place_item(&at, &in->items[at.index]);
    return status;
}

pawl_status check_page_room(size_t count, int page_size, pawl_error *err) {
    struct place at = {.op = "page_commit", .err = err};
    if (count > (size_t)page_size)
        return place_wrong(&at,
                           "the page has %zu items, the run's page size is %d; the handler must return "
                           "no more than it was asked for",
                           count, page_size);
    return PAWL_OK;
}

pawl_status check_runs_filter(const struct runs_filter *in, pawl_error *err) {
    struct place at = {.op = "runs", .err = err};
    pawl_status status = place_range(&at, "state", in->state, 0, RUN_IS_CANCELLED);
    return status == PAWL_OK ? check_list_limit("runs", in->limit, err) : status;
}

pawl_status check_partitions_filter(const struct partitions_filter *in, pawl_error *err) {
    struct place at = {.op = "partitions", .err = err};
    const struct number_of numbers[] = {{"state", in->state, 0, PART_CANCELLED},
                                        {"quiet_ms", in->quiet_ms, 0, INT64_MAX / 4}};
    pawl_status status = place_numbers(&at, numbers, COUNT(numbers));
    return status == PAWL_OK ? check_list_limit("partitions", in->limit, err) : status;
}

pawl_status check_items_filter(const struct items_filter *in, pawl_error *err) {
    return check_list_limit("items", in->limit, err);
}

pawl_status check_partition_reset(const struct partition_reset *in, pawl_error *err) {
    struct place at = {.op = "partition_reset", .err = err};
    pawl_status status = place_range(&at, "offset", in->offset, 0, INT64_MAX / 4);
    return status == PAWL_OK ? place_json(&at, "cursor", in->cursor, PAWL_CURSOR_BYTES_MAX) : status;
}

pawl_status check_run_retry(const struct run_retry *in, pawl_error *err) {
    struct place at = {.op = "run_retry", .err = err};
    return place_range(&at, "part", in->part, -1, PAWL_PARTITIONS_PER_RUN_MAX);
}

pawl_status check_run_pace(const struct run_pace *in, pawl_error *err) {
    struct place at = {.op = "run_pace", .err = err};
    const struct number_of numbers[] = {{"concurrency", in->concurrency, -1, PAWL_JOB_RATE_MAX},
                                        {"rate", in->rate, -1, PAWL_JOB_RATE_MAX},
                                        {"rate_ms", in->rate_ms, in->rate > 0 ? 1 : 0, PAWL_LEASE_MS_MAX},
                                        {"hold_ms", in->hold_ms, 0, PAWL_LEASE_MS_MAX}};
    return place_numbers(&at, numbers, COUNT(numbers));
}

pawl_status check_run_target(const struct run_target *in, pawl_error *err) {
    static const struct text_rule name = {"name", TEXT_NAME, true};
    struct place at = {.op = "target_put", .err = err};
    pawl_status status = place_text(&at, &name, in->name);
    if (status != PAWL_OK)
        return status;
    if (str_absent(in->sql) || str_trim(in->sql).len == 0)
        return place_wrong(&at, "the statement is missing; it gets one parameter, a JSON array of items");
    if (in->sql.len > PAWL_TARGET_SQL_BYTES_MAX)
        return place_wrong(&at, "the statement has %zu bytes; at most %d are allowed", in->sql.len,
                           PAWL_TARGET_SQL_BYTES_MAX);
    return place_error_text(&at, in->sql);
}

pawl_status check_run_rows_max(int rows_max, pawl_error *err) {
    struct place at = {.op = "runs_maintain", .err = err};
    return place_range(&at, "rows_max", rows_max, 1, INT32_MAX);
}
