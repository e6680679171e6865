/* Routes that end every job that matches a filter, as a bulk operation. */
#include "operations/jobs.h"
#include "base/error.h"
#include "base/str.h"
#include "operations/messages.h"
#include "server/bulk.h"
#include "server/http/route.h"
#include "view/names.h"

static pawl_status end_many(struct request *request, enum bulk_verb verb, pawl_error *err) {
    struct bulk_new in = {.verb = verb,
                          .jobs = job_filter_from(request),
                          .max = request_number(request, "max", 0),
                          .per_second = request_number(request, "per_second", 0),
                          .dry_run = request_bool(request, "dry_run"),
                          .total = -1};
    if (verb != BULK_CANCEL_JOBS)
        in.jobs.state = JOB_DEAD;
    bool filtered = !str_absent(in.jobs.queue) || !str_absent(in.jobs.task) || !str_absent(in.jobs.type) ||
                    !str_absent(in.jobs.key) || !str_absent(in.jobs.fingerprint) ||
                    (verb == BULK_CANCEL_JOBS && in.jobs.state != 0);
    if (filtered == request_bool(request, "all"))
        return error_set(err, PAWL_INVALID, "job", "%s",
                         filtered ? "a filter and all exclude each other: give one of them"
                                  : "it needs a filter such as task or type, or all");
    return bulk_start(request, &in, err);
}

static pawl_status cancel_many(struct request *request, pawl_error *err) {
    return end_many(request, BULK_CANCEL_JOBS, err);
}
static pawl_status retry_many(struct request *request, pawl_error *err) {
    return end_many(request, BULK_RETRY_JOBS, err);
}
static pawl_status discard_many(struct request *request, pawl_error *err) {
    return end_many(request, BULK_DISCARD_JOBS, err);
}

#define BULK_FIELDS                                                                                          \
    {FIELD(FIELD_BOOL, IN_BODY, "all", "Every one; instead of a filter.")},                                  \
        {INT_FIELD(IN_BODY, "max", 1, 0, "At most this many.")},                                             \
        {INT_FIELD(IN_BODY, "per_second", 1, 1000000, "The maximum rate.")}, {                               \
        FIELD(FIELD_BOOL, IN_BODY, "dry_run", "Only count them.")                                            \
    }
static const struct field dead_fields[] = {JOB_FILTER_FIELDS(IN_BODY), BULK_FIELDS};
static const struct field cancel_fields[] = {
    {CHOICE_FIELD(IN_BODY, "state", JOB_STATES, "Only in this state.")},
    JOB_FILTER_FIELDS(IN_BODY),
    BULK_FIELDS};

#define ENDS_MANY(route_path, route_name, text, list, function)                                              \
    {                                                                                                        \
        POSTS(route_path, route_name, "jobs"), .summary = (text), FIELDS(list), .shape = ANSWER_RECORD,      \
                                               .columns = bulk_columns, .column_count = BULK_COLUMNS,        \
                                               .status = 202, .run = (function)                              \
    }

static const struct operation routes[] = {
    ENDS_MANY("/v1/jobs/cancel", "cancelJobs", "Cancel every matching job, as an operation", cancel_fields,
              cancel_many),
    ENDS_MANY("/v1/jobs/retry", "retryJobs", "Run every matching dead job again, as an operation",
              dead_fields, retry_many),
    ENDS_MANY("/v1/jobs/discard", "discardJobs", "Discard every matching dead job, as an operation",
              dead_fields, discard_many),
};

const struct operation_table job_routes = OPERATION_TABLE(routes);
