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
                          .max = request_number(request, "limit", 0),
                          .per_second = request_number(request, "rate", 0),
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
static pawl_status delete_many(struct request *request, pawl_error *err) {
    return end_many(request, BULK_DISCARD_JOBS, err);
}

static const struct field dead_fields[] = {JOB_FILTER_FIELDS(IN_BODY), BULK_FIELDS(IN_BODY)};
static const struct field cancel_fields[] = {
    {CHOICE_FIELD(IN_BODY, "state", JOB_STATES, "Only in this state.")},
    JOB_FILTER_FIELDS(IN_BODY),
    BULK_FIELDS(IN_BODY)};

#define ENDS_MANY(operation_name, route_path, text, list, function)                                          \
    {                                                                                                        \
        OPERATION(operation_name, text), POSTS(route_path), FIELDS(list),                                    \
            .shape = ANSWER_RECORD, .columns = bulk_columns, .column_count = BULK_COLUMNS, .status = 202,    \
            .run = (function)                                                                                \
    }

static const struct operation routes[] = {
    ENDS_MANY("job.cancel_many", "/v1/jobs/cancel", "Cancel every matching job, as an operation",
              cancel_fields, cancel_many),
    ENDS_MANY("job.retry_many", "/v1/jobs/retry", "Run every matching dead job again, as an operation",
              dead_fields, retry_many),
    ENDS_MANY("job.delete_many", "/v1/jobs/delete", "Delete every matching dead job, as an operation",
              dead_fields, delete_many),
};

const struct operation_table job_routes = OPERATION_TABLE(routes);
