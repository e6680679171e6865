/* Operations on limits: how many jobs of a key run at once, and how often they start. */
#include "base/error.h"
#include "operations/tables.h"
#include "view/work.h"

static pawl_status limit_list(struct request *request, pawl_error *err) {
    struct job_limits found = {.count = 0};
    TRY(request->store->ops->jobs->limits(request->store, request->arena, &found, err));
    return request_rows(request, ROWS_OF(limit, found.limits, found.count), NULL, err);
}

static pawl_status limit_set(struct request *request, pawl_error *err) {
    struct job_limit limit = {.key = request_text(request, "key"),
                              .concurrency = (int)request_number(request, "concurrency", 0),
                              .rate = (int)request_number(request, "rate", 0),
                              .rate_ms = request_number(request, "rate_window_ms", 1000),
                              .weight = (int)request_number(request, "weight", 1)};
    TRY(request->store->ops->jobs->limit_set(request->store, &limit, err));
    return request_shown(request, limit_columns, LIMIT_COLUMNS, &limit, err);
}

static const struct field set_fields[] = {
    {TEXT_FIELD(IN_PATH, "key", PAWL_NAME_BYTES_MAX, "The key, or its beginning and *."), .required = true},
    {INT_FIELD(IN_BODY, "concurrency", 0, PAWL_JOB_RATE_MAX,
               "Jobs running at the same time, over all workers; 0: no limit.")},
    {INT_FIELD(IN_BODY, "rate", 0, PAWL_JOB_RATE_MAX, "Jobs started within the window; 0: no limit.")},
    {DURATION_FIELD(IN_BODY, "rate_window_ms", 1, PAWL_LEASE_MS_MAX,
                    "The window of the rate; 1s by default.")},
    {INT_FIELD(IN_BODY, "weight", 1, PAWL_JOB_WEIGHT_MAX,
               "The key's share relative to other keys with work; 1 by default.")}};

static const struct operation operations[] = {
    {OPERATION("limit.list", "List the limits of keys"), READS("/v1/limits"), COLUMNS(limit_columns),
     .run = limit_list, .empty = "no limits"},
    {OPERATION("limit.set", "Set the limits of a key, replacing all of them"), PUTS("/v1/limits/{key}"),
     FIELDS(set_fields), RECORD(limit_columns), .run = limit_set,
     .details = "A key is what pawl job enqueue --key names. With tenant:* the limits apply to each key that "
                "begins with tenant: and has no limits itself. They apply across all workers. Without any "
                "limit, and with weight 1, they are removed.",
     .example = "pawl limit set 'tenant:*' --concurrency 4 --rate 100 --rate-window 1m"},
};

const struct operation_table limit_operations = OPERATION_TABLE(operations);
