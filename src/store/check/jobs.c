/* Checking the input of job operations, with the same errors for every store. */
#include "store/check/jobs.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "domain/authority/scope.h"
#include "domain/jobrule.h"
#include "store/check/place.h"

pawl_str jobs_queue(pawl_str queue) { return str_absent(queue) ? STR("default") : queue; }

/* A completion, unless the call names the same job before with another outcome. */
static bool goes_first(const struct jobs_finish *in, size_t at) {
    const struct job_ref ref = in->items[at].ref;
    if (in->items[at].outcome != JOB_COMPLETE)
        return false;
    for (size_t i = 0; i < at; i++)
        if (in->items[i].ref.id == ref.id && in->items[i].ref.token == ref.token)
            return false;
    return true;
}

void jobs_finish_order(const struct jobs_finish *in, size_t *order) {
    size_t completions = 0, count = 0;
    for (size_t i = 0; i < in->count; i++)
        completions += in->items[i].outcome == JOB_COMPLETE;
    if (completions == 0 || completions == in->count) {
        for (size_t i = 0; i < in->count; i++)
            order[i] = i;
        return;
    }
    for (size_t i = 0; i < in->count; i++)
        if (goes_first(in, i))
            order[count++] = i;
    for (size_t i = 0; i < in->count; i++)
        if (!goes_first(in, i))
            order[count++] = i;
}

pawl_str job_cancel_error(pawl_str error, struct arena *arena) {
    if (str_absent(error))
        return STR("cancelled");
    if (str_starts_with(error, STR("cancelled")))
        return error;
    char *text = arena_printf(arena, "cancelled; it ended with: %.*s", STR_ARG(error));
    return text != NULL ? utf8_cut(str_from(text), PAWL_ERROR_BYTES_MAX) : STR("cancelled");
}

const char *run_outcome_event(enum run_outcome outcome) {
    static const char *const names[] = {"job.unknown", "job.succeeded", "job.failed",
                                        "job.dead",    "job.cancelled", "job.lost"};
    return names[outcome >= RUN_SUCCEEDED && outcome <= RUN_LOST ? outcome : 0];
}

/* Reserved for pawl's own jobs; a user's job with such a key would hold up a page, a plan or a schedule. */
static pawl_status place_own_key(struct place *at, const char *what, pawl_str key, pawl_str type) {
    bool plan = str_starts_with(key, STR("run-plan:")) && !str_equal(type, STR("pawl.plan"));
    if (!plan && !str_starts_with(key, STR("run:")) && !str_starts_with(key, STR("schedule:")))
        return at->status;
    return place_wrong(at,
                       "the %s begins with '%.*s', which pawl keeps for its own jobs; choose another prefix",
                       what, STR_ARG(jobrule_prefix(key)));
}

static pawl_status place_job(struct place *at, const struct job_new *job, size_t bytes_max) {
    if (str_absent(job->task) && str_absent(job->type))
        return place_wrong(at, "the type is missing; name a type, or a task that has one");
    if (!str_absent(job->task) && !str_absent(job->type))
        return place_wrong(at, "a task and a type are named; the task has its own type, so leave one out");
    place_optional(at, TEXT_NAME, "task", job->task);
    place_optional(at, TEXT_TYPE, "type", job->type);
    place_optional(at, TEXT_NAME, "queue", job->queue);
    place_optional(at, TEXT_NAME, "key", job->key);
    place_optional(at, TEXT_NAME, "unique key", job->unique_key);
    place_optional(at, TEXT_NAME, "traceparent", job->traceparent);
    place_optional(at, TEXT_NAME, "agent", job->agent);
    place_own_key(at, "key", job->key, job->type);
    place_own_key(at, "unique key", job->unique_key, job->type);
    place_range(at, "priority", job->priority, -PAWL_JOB_PRIORITY_MAX, PAWL_JOB_PRIORITY_MAX);
    place_range(at, "max_attempts", job->max_attempts, 0, PAWL_ATTEMPTS_MAX);
    place_range(at, "flags", job->flags, 0, JOB_AUDIT | JOB_EVENTS);
    place_range(at, "due_ms", job->due_ms, 0, INT64_MAX / 4);
    place_range(at, "delay_ms", job->delay_ms, 0, PAWL_JOB_DELAY_MS_MAX);
    place_range(at, "deadline_ms", job->deadline_ms, 0, INT64_MAX / 4);
    place_range(at, "timeout_ms", job->timeout_ms, 0, PAWL_LEASE_MS_MAX);
    return place_json(at, "payload", job->payload, bytes_max);
}

pawl_status check_jobs_enqueue(const struct jobs_enqueue *in, pawl_error *err) {
    struct place at = {.op = "jobs_enqueue", .err = err, .count = in->count};
    size_t bytes_max = in->payload_bytes_max != 0 ? in->payload_bytes_max : PAWL_PAYLOAD_BYTES_DEFAULT;
    if (bytes_max > PAWL_PAYLOAD_BYTES_MAX)
        return place_wrong(&at, "payload_bytes_max %zu is above %d", bytes_max, PAWL_PAYLOAD_BYTES_MAX);
    place_count(&at, "jobs", in->count, in->jobs);
    at.noun = "job";
    for (at.index = 0; at.status == PAWL_OK && at.index < in->count; at.index++)
        place_job(&at, &in->jobs[at.index], bytes_max);
    return at.status;
}

static pawl_status place_claim(struct place *at, const struct jobs_claim *in, int min) {
    place_optional(at, TEXT_NAME, "queue", in->queue);
    place_range(at, "max", in->max, min, PAWL_BATCH_MAX);
    if (in->max > 0)
        place_lease(at, in->lease_ms);
    return at->status;
}

pawl_status check_jobs_claim(const struct jobs_claim *in, pawl_error *err) {
    struct place at = {.op = "jobs_claim", .err = err};
    place_instance_id(&at, in->instance);
    return place_claim(&at, in, 1);
}

static pawl_status place_finish(struct place *at, const struct finish_item *item) {
    bool endless = item->outcome == JOB_FAIL || item->outcome == JOB_WAIT;
    place_range(at, "outcome", (int64_t)item->outcome, JOB_COMPLETE, JOB_WAIT);
    place_range(at, "delay_ms", item->delay_ms, endless ? -1 : 0, PAWL_JOB_DELAY_MS_MAX);
    place_range(at, "duration_ms", item->duration_ms, 0, INT64_MAX / 4);
    if (item->outcome == JOB_FAIL)
        place_range(at, "error class", (int64_t)item->error_class, CLASS_RETRYABLE, CLASS_PERMANENT);
    if (item->outcome == JOB_WAIT) {
        place_required(at, TEXT_NAME, "wait key", item->wait_key);
        place_required(at, TEXT_NAME, "wait step", item->wait_step);
    }
    place_error_text(at, item->error);
    place_optional(at, TEXT_NAME, "hash", item->input_hash);
    place_optional(at, TEXT_NAME, "hash", item->output_hash);
    place_json(at, "output", item->output, PAWL_PAYLOAD_BYTES_MAX);
    return place_json(at, "list of steps", item->steps, PAWL_PAYLOAD_BYTES_MAX);
}

pawl_status check_jobs_finish(const struct jobs_finish *in, pawl_error *err) {
    struct place at = {.op = "jobs_finish", .err = err, .count = in->count};
    place_instance_id(&at, in->instance);
    place_claim(&at, &in->claim, 0);
    place_count(&at, "reports", in->count, in->items);
    at.noun = "report";
    for (at.index = 0; at.status == PAWL_OK && at.index < in->count; at.index++)
        place_finish(&at, &in->items[at.index]);
    return at.status;
}

pawl_status check_jobs_renew(const struct jobs_renew *in, pawl_error *err) {
    struct place at = {.op = "jobs_renew", .err = err, .count = in->count};
    place_instance_id(&at, in->instance);
    place_lease(&at, in->lease_ms);
    place_count(&at, "renewals", in->count, in->items);
    at.noun = "renewal";
    for (at.index = 0; at.status == PAWL_OK && at.index < in->count; at.index++)
        place_json(&at, "progress", in->items[at.index].progress, PAWL_METADATA_BYTES_MAX);
    return at.status;
}

pawl_status check_job_ids(const char *op, const int64_t *ids, size_t count, pawl_error *err) {
    struct place at = {.op = op, .err = err};
    return place_count(&at, "ids", count, ids);
}

pawl_status check_job_wake(const struct job_wake *in, pawl_error *err) {
    struct place at = {.op = "jobs_wake", .err = err};
    place_required(&at, TEXT_NAME, "wait key", in->wait_key);
    place_json(&at, "payload", in->payload, PAWL_PAYLOAD_BYTES_MAX);
    return place_range(&at, "keep_ms", in->keep_ms, 0, PAWL_JOB_DELAY_MS_MAX);
}

static pawl_status place_step(struct place *at, const struct job_step *step) {
    place_required(at, TEXT_NAME, "step", step->step);
    place_optional(at, TEXT_NAME, "hash", step->input_hash);
    place_optional(at, TEXT_NAME, "hash", step->output_hash);
    place_range(at, "index", step->index, 0, INT32_MAX);
    place_range(at, "state", (int64_t)step->state, JOB_STEP_DONE, JOB_STEP_WAITING);
    place_range(at, "attempt", step->attempt, 0, INT32_MAX);
    place_range(at, "duration_ms", step->duration_ms, 0, INT64_MAX / 4);
    place_error_text(at, step->error);
    return place_json(at, "output", step->output, PAWL_PAYLOAD_BYTES_MAX);
}

pawl_status check_steps_put(const struct steps_put *in, pawl_error *err) {
    struct place at = {.op = "steps_put", .err = err, .count = in->count};
    place_instance_id(&at, in->instance);
    place_range(&at, "the number of steps", (int64_t)in->count, 1, PAWL_JOB_STEPS_MAX);
    place_count(&at, "steps", in->count, in->steps);
    at.noun = "step";
    for (at.index = 0; at.status == PAWL_OK && at.index < in->count; at.index++)
        place_step(&at, &in->steps[at.index]);
    return at.status;
}

pawl_status check_job_limit(const struct job_limit *in, pawl_error *err) {
    struct place at = {.op = "job_limit_set", .err = err};
    place_required(&at, TEXT_NAME, "key", in->key);
    place_range(&at, "concurrency", in->concurrency, 0, PAWL_JOB_RATE_MAX);
    place_range(&at, "rate", in->rate, 0, PAWL_JOB_RATE_MAX);
    place_range(&at, "rate_ms", in->rate_ms, in->rate > 0 ? 1 : 0, PAWL_LEASE_MS_MAX);
    return place_range(&at, "weight", in->weight, 1, PAWL_JOB_WEIGHT_MAX);
}

pawl_status check_audit_expect(pawl_str hash, pawl_error *err) {
    if (str_absent(hash))
        return PAWL_OK;
    size_t digits = 0;
    while (digits < hash.len && hex_digit(hash.ptr[digits]) >= 0)
        digits++;
    return hash.len == SHA256_TEXT_BYTES - 1 && digits == hash.len
               ? PAWL_OK
               : error_set(err, PAWL_INVALID, "audit_verify",
                           "the hash of an anchor has %d hexadecimal digits, as pawl audit head prints it",
                           SHA256_TEXT_BYTES - 1);
}

pawl_str audit_anchor_unknown(pawl_str expect, struct arena *arena) {
    return str_from(arena_printf(arena,
                                 "no anchor has the hash %.*s: the history it named was removed or rewritten",
                                 STR_ARG(expect)));
}

pawl_status check_backlog_look(int look_max, pawl_error *err) {
    struct place at = {.op = "job_backlog", .err = err};
    return place_range(&at, "look_max", look_max, 1, PAWL_BACKLOG_LOOK);
}

pawl_status check_job_filter(const struct job_filter *in, pawl_error *err) {
    struct place at = {.op = "jobs", .err = err};
    place_range(&at, "state", in->state, 0, JOB_STATE_LAST);
    return place_limit(&at, in->limit);
}

/* A JSON array of texts, as agents and tasks name scopes. Depth 1, and no member may be anything else. */
static pawl_status place_scopes(struct place *at, pawl_str scopes) {
    place_json(at, "list of scopes", scopes, PAWL_METADATA_BYTES_MAX);
    if (at->status != PAWL_OK || str_absent(scopes))
        return at->status;
    pawl_str text = str_trim(scopes);
    bool quoted = false, fits = text.len >= 2 && text.ptr[0] == '[' && json_valid(scopes, 1, NULL);
    for (size_t i = 1; fits && i + 1 < text.len; i++) {
        char c = text.ptr[i];
        if (c == '\\' && quoted)
            fits = false; /* scopes are plain names */
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && c != ',' && c != ' ' && c != '\t' && c != '\n' && c != '\r')
            fits = false;
    }
    return fits ? PAWL_OK
                : place_wrong(at, "the scopes must be a JSON array of plain texts, like [\"files.read\"]");
}

pawl_status check_task(const struct task *in, pawl_error *err) {
    struct place at = {.op = "task_put", .err = err};
    place_required(&at, TEXT_NAME, "name", in->name);
    place_optional(&at, TEXT_NAME, "agent", in->agent);
    place_required(&at, TEXT_TYPE, "type", in->type);
    place_optional(&at, TEXT_NAME, "queue", in->queue);
    place_optional(&at, TEXT_NAME, "key", in->key);
    place_own_key(&at, "key", in->key, in->type);
    place_range(&at, "priority", in->priority, -PAWL_JOB_PRIORITY_MAX, PAWL_JOB_PRIORITY_MAX);
    place_range(&at, "max_attempts", in->max_attempts, 0, PAWL_ATTEMPTS_MAX);
    place_range(&at, "flags", in->flags, 0, JOB_AUDIT | JOB_EVENTS);
    place_range(&at, "timeout_ms", in->timeout_ms, 0, PAWL_LEASE_MS_MAX);
    place_range(&at, "retention_ms", in->retention_ms, 0, PAWL_HISTORY_MS_MAX);
    place_range(&at, "version", in->version, 0, INT64_MAX);
    place_json(&at, "specification", in->spec, PAWL_PAYLOAD_BYTES_MAX);
    place_json(&at, "list of parameters", in->params, PAWL_PAYLOAD_BYTES_MAX);
    return place_scopes(&at, in->scopes);
}

pawl_status check_schedule(const struct job_schedule *in, pawl_error *err) {
    struct place at = {.op = "schedule_put", .err = err};
    place_required(&at, TEXT_NAME, "name", in->name);
    place_required(&at, TEXT_NAME, "task", in->task);
    place_required(&at, TEXT_NAME, "expression", in->expr);
    place_optional(&at, TEXT_NAME, "zone", in->zone);
    place_range(&at, "kind", (int64_t)in->kind, JOB_SCHEDULE_ONCE, JOB_SCHEDULE_CRON);
    place_range(&at, "missed policy", (int64_t)in->missed, MISSED_SKIP, MISSED_ALL);
    place_range(&at, "missed_max", in->missed_max, in->missed == MISSED_ALL ? 1 : 0, PAWL_INSTANTS_MAX);
    place_range(&at, "overlap policy", (int64_t)in->overlap, OVERLAP_ALLOW, OVERLAP_QUEUE);
    place_range(&at, "jitter_ms", in->jitter_ms, 0, PAWL_LEASE_MS_MAX);
    place_range(&at, "start_ms", in->start_ms, 0, INT64_MAX / 4);
    place_range(&at, "end_ms", in->end_ms, 0, INT64_MAX / 4);
    place_range(&at, "next_ms", in->next_ms, 0, INT64_MAX / 4);
    place_range(&at, "version", in->version, 0, INT64_MAX);
    return place_json(&at, "list of parameters", in->params, PAWL_PAYLOAD_BYTES_MAX);
}

pawl_status check_schedule_fire(const struct schedule_fire *in, pawl_error *err) {
    struct place at = {.op = "schedule_fire", .err = err};
    place_required(&at, TEXT_NAME, "name", in->name);
    place_range(&at, "the number of instants", (int64_t)in->count, 0, PAWL_INSTANTS_MAX);
    if (in->count > 0 && (in->instants == NULL || in->due_ms == NULL))
        return place_wrong(&at, "the call announces %zu instants but has none", in->count);
    for (size_t i = 0; at.status == PAWL_OK && i < in->count; i++) {
        int64_t above = i > 0 ? in->instants[i - 1] : 0;
        if (in->instants[i] <= above || in->instants[i] > in->through_ms)
            return place_wrong(&at,
                               "instant %" PRId64 " is not between the one before and through_ms %" PRId64,
                               in->instants[i], in->through_ms);
        place_range(&at, "due_ms", in->due_ms[i], 1, INT64_MAX / 4);
    }
    if (in->next_ms != 0 && in->next_ms <= in->through_ms)
        return place_wrong(&at, "next_ms %" PRId64 " is not after through_ms %" PRId64, in->next_ms,
                           in->through_ms);
    return at.status;
}

pawl_status check_agent(const struct agent *in, pawl_error *err) {
    struct place at = {.op = "agent_put", .err = err};
    place_required(&at, TEXT_NAME, "name", in->name);
    pawl_str scope;
    place_scopes(&at, in->scopes);
    for (size_t n = 0; at.status == PAWL_OK && scope_list_next(in->scopes, &n, &scope);)
        at.status = scope_check_name(scope, true, err);
    return at.status;
}

void job_fill_in(struct job *job, const struct task *task) {
    job->type = task->type;
    if (str_absent(job->agent))
        job->agent = task->agent;
    if (str_absent(job->payload))
        job->payload = task->params;
    if (str_absent(job->queue))
        job->queue = task->queue;
    if (str_absent(job->key))
        job->key = task->key;
    if (job->priority == 0)
        job->priority = task->priority;
    if (job->max_attempts == 0)
        job->max_attempts = task->max_attempts;
    if (job->timeout_ms == 0)
        job->timeout_ms = task->timeout_ms;
    job->flags |= task->flags;
}

pawl_status check_rows_max(const char *op, int rows_max, pawl_error *err) {
    if (rows_max >= 1)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, op, "rows_max %d is below 1", rows_max);
}

pawl_status job_unknown(int64_t id, pawl_error *err) {
    return error_set(err, PAWL_NOT_FOUND, "job_why", "there is no unfinished job %lld", (long long)id);
}

pawl_status named_missing(const char *op, pawl_str name, pawl_error *err) {
    return error_set(err, PAWL_NOT_FOUND, op, "there is no '%.*s'", STR_ARG(name));
}

pawl_status task_in_use(pawl_str name, pawl_error *err) {
    return error_set(err, PAWL_CONFLICT, "task_remove",
                     "a schedule names task '%.*s': remove the schedule first", STR_ARG(name));
}
