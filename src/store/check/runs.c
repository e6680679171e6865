/* Checking the input of run operations, with the same errors for every store. */
#include "store/check/runs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "store/check/place.h"
#include "store/events.h"

static pawl_status place_partition(struct place *at, const struct partition_new *part) {
    place_required(at, TEXT_NAME, "partition name", part->name);
    if (part->name.len > PAWL_PARTITION_NAME_BYTES_MAX)
        return place_wrong(at, "the partition name has %zu bytes; at most %d are allowed", part->name.len,
                           PAWL_PARTITION_NAME_BYTES_MAX);
    if (part->bounded && part->low >= part->high)
        return place_wrong(at, "its bounds %" PRId64 " … %" PRId64 " hold nothing: low must be below high",
                           part->low, part->high);
    place_range(at, "total", part->total, -1, INT64_MAX / 4);
    place_range(at, "offset", part->offset, 0, INT64_MAX / 4);
    place_json(at, "list of parameters", part->params, PAWL_METADATA_BYTES_MAX);
    return place_json(at, "cursor", part->cursor, PAWL_CURSOR_BYTES_MAX);
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
static pawl_status place_apart(struct place *at, const struct run_start *in) {
    const struct partition_new **order = malloc((in->count + 1) * sizeof *order);
    if (order == NULL)
        return error_set(at->err, PAWL_NO_MEMORY, at->op, "no memory for %zu partitions", in->count);
    for (size_t i = 0; i < in->count; i++)
        order[i] = &in->partitions[i];
    qsort(order, in->count, sizeof *order, by_name);
    for (size_t i = 1; at->status == PAWL_OK && i < in->count; i++)
        if (str_equal(order[i - 1]->name, order[i]->name))
            place_wrong(at, "two partitions are named '%.*s'; a name is used once in a run",
                        STR_ARG(order[i]->name));
    qsort(order, in->count, sizeof *order, by_low);
    for (size_t i = 1; at->status == PAWL_OK && i < in->count && order[i]->bounded; i++)
        if (order[i]->low < order[i - 1]->high)
            place_wrong(at,
                        "partitions '%.*s' (%" PRId64 " … %" PRId64 ") and '%.*s' (%" PRId64 " … %" PRId64
                        ") overlap; high is not part of a partition, so let one begin "
                        "where the other ends",
                        STR_ARG(order[i - 1]->name), order[i - 1]->low, order[i - 1]->high,
                        STR_ARG(order[i]->name), order[i]->low, order[i]->high);
    free(order);
    return at->status;
}

static pawl_status place_run(struct place *at, const struct run_start *in) {
    place_required(at, TEXT_NAME, "name", in->name);
    place_optional(at, TEXT_NAME, "key", in->key);
    place_required(at, TEXT_TYPE, "type", in->type);
    place_optional(at, TEXT_TYPE, "consolidation type", in->consolidate);
    place_optional(at, TEXT_TYPE, "announcement type", in->announce);
    place_optional(at, TEXT_NAME, "target", in->target);
    place_optional(at, TEXT_NAME, "queue", in->queue);
    place_optional(at, TEXT_NAME, "traceparent", in->traceparent);
    place_optional(at, TEXT_NAME, "wait key", in->wait_key);
    place_range(at, "parent", in->parent, 0, INT64_MAX);
    place_range(at, "page_size", in->page_size, 0, PAWL_PAGE_SIZE_MAX);
    place_range(at, "concurrency", in->concurrency, 0, PAWL_JOB_RATE_MAX);
    place_range(at, "rate", in->rate, 0, PAWL_JOB_RATE_MAX);
    place_range(at, "rate_ms", in->rate_ms, in->rate > 0 ? 1 : 0, PAWL_LEASE_MS_MAX);
    place_range(at, "deadline_ms", in->deadline_ms, 0, PAWL_LEASE_MS_MAX);
    place_range(at, "max_attempts", in->max_attempts, 0, PAWL_ATTEMPTS_MAX);
    place_range(at, "priority", in->priority, -PAWL_JOB_PRIORITY_MAX, PAWL_JOB_PRIORITY_MAX);
    place_range(at, "flags", in->flags, 0, JOB_AUDIT | JOB_EVENTS);
    place_range(at, "end rule", (int64_t)in->end, 0, END_SHORT_PAGE);
    place_range(at, "policy", (int64_t)in->policy, 0, FAILED_WAIT);
    place_range(at, "the number of partitions", (int64_t)in->count, 0, PAWL_PARTITIONS_PER_RUN_MAX);
    place_json(at, "list of parameters", in->params, PAWL_PAYLOAD_BYTES_DEFAULT);
    place_json(at, "run document", in->spec, PAWL_PAYLOAD_BYTES_DEFAULT);
    if (in->count > 0 && in->partitions == NULL)
        place_wrong(at, "the call announces %zu partitions but has none", in->count);
    return at->status;
}

pawl_status check_run_start(const struct run_start *in, pawl_error *err) {
    struct place at = {.op = "run_start", .err = err, .count = in->count};
    place_run(&at, in);
    at.noun = "partition";
    for (at.index = 0; at.status == PAWL_OK && at.index < in->count; at.index++)
        place_partition(&at, &in->partitions[at.index]);
    at.noun = NULL;
    return at.status == PAWL_OK ? place_apart(&at, in) : at.status;
}

static pawl_status place_page(struct place *at, const struct page_ref *in) {
    place_instance_id(at, in->instance);
    place_range(at, "run", in->run, 1, INT64_MAX);
    place_range(at, "part", in->part, 0, PAWL_PARTITIONS_PER_RUN_MAX);
    place_range(at, "generation", in->generation, 0, INT32_MAX);
    return place_range(at, "page", in->page, 0, INT64_MAX / 4);
}

pawl_status check_page_ref(const char *op, const struct page_ref *in, pawl_error *err) {
    struct place at = {.op = op, .err = err};
    return place_page(&at, in);
}

static pawl_status place_item(struct place *at, const struct run_item *item) {
    if (str_absent(item->key) || item->key.len == 0)
        return place_wrong(at, "it has no key; the handler must give every item one, or it could be stored "
                               "twice");
    if (item->key.len > PAWL_ITEM_KEY_BYTES_MAX)
        return place_wrong(at, "its key has %zu bytes; at most %d are allowed", item->key.len,
                           PAWL_ITEM_KEY_BYTES_MAX);
    place_error_text(at, item->key);
    return place_json(at, "payload", item->payload, PAWL_PAYLOAD_BYTES_MAX);
}

pawl_status check_page_commit(const struct page_commit *in, pawl_error *err) {
    struct place at = {.op = "page_commit", .err = err, .count = in->count};
    place_page(&at, &in->ref);
    place_range(&at, "more", (int64_t)in->more, MORE_BY_RULE, MORE_NO);
    place_range(&at, "fetch_ms", in->fetch_ms, 0, INT64_MAX / 4);
    place_json(&at, "cursor", in->cursor, PAWL_CURSOR_BYTES_MAX);
    place_count(&at, "items", in->count, in->items);
    at.noun = "item";
    for (at.index = 0; at.status == PAWL_OK && at.index < in->count; at.index++)
        place_item(&at, &in->items[at.index]);
    return at.status;
}

pawl_status check_page_room(size_t count, int page_size, pawl_error *err) {
    struct place at = {.op = "page_commit", .err = err};
    if (count > (size_t)page_size)
        return place_wrong(&at,
                           "the page has %zu items, the run's page size is %d; the handler must return "
                           "no more than it was asked for",
                           count, page_size);
    return at.status;
}

pawl_status check_runs_filter(const struct runs_filter *in, pawl_error *err) {
    struct place at = {.op = "runs", .err = err};
    place_range(&at, "state", in->state, 0, RUN_IS_CANCELLED);
    return place_limit(&at, in->limit);
}

pawl_status check_partitions_filter(const struct partitions_filter *in, pawl_error *err) {
    struct place at = {.op = "partitions", .err = err};
    place_range(&at, "state", in->state, 0, PART_CANCELLED);
    place_range(&at, "quiet_ms", in->quiet_ms, 0, INT64_MAX / 4);
    return place_limit(&at, in->limit);
}

pawl_status check_partition_reset(const struct partition_reset *in, pawl_error *err) {
    struct place at = {.op = "partition_reset", .err = err};
    place_range(&at, "offset", in->offset, 0, INT64_MAX / 4);
    return place_json(&at, "cursor", in->cursor, PAWL_CURSOR_BYTES_MAX);
}

pawl_status check_run_retry(const struct run_retry *in, pawl_error *err) {
    struct place at = {.op = "run_retry", .err = err};
    return place_range(&at, "part", in->part, -1, PAWL_PARTITIONS_PER_RUN_MAX);
}

pawl_status check_run_pace(const struct run_pace *in, pawl_error *err) {
    struct place at = {.op = "run_pace", .err = err};
    place_range(&at, "concurrency", in->concurrency, -1, PAWL_JOB_RATE_MAX);
    place_range(&at, "rate", in->rate, -1, PAWL_JOB_RATE_MAX);
    place_range(&at, "rate_ms", in->rate_ms, in->rate > 0 ? 1 : 0, PAWL_LEASE_MS_MAX);
    return place_range(&at, "hold_ms", in->hold_ms, 0, PAWL_LEASE_MS_MAX);
}

pawl_status check_run_target(const struct run_target *in, pawl_error *err) {
    struct place at = {.op = "target_put", .err = err};
    place_required(&at, TEXT_NAME, "name", in->name);
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
