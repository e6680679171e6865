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
#include "domain/authority/scope_list.h"
#include "domain/jobrule.h"
#include "store/check/place.h"

static const struct text_rule rule_type = {"type", TEXT_TYPE, false};
static const struct text_rule rule_task = {"task", TEXT_NAME, false};
static const struct text_rule rule_agent = {"agent", TEXT_NAME, false};
static const struct text_rule rule_queue = {"queue", TEXT_NAME, false};
static const struct text_rule rule_key = {"key", TEXT_NAME, false};
static const struct text_rule rule_unique = {"unique key", TEXT_NAME, false};
static const struct text_rule rule_trace = {"traceparent", TEXT_NAME, false};

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

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Reserved for pawl's own jobs; a user's job with such a key would hold up a page, a plan or a schedule. */
static pawl_status place_own_key(const struct place *at, const char *what, pawl_str key, pawl_str type) {
    bool plan = str_starts_with(key, STR("run-plan:")) && !str_equal(type, STR("pawl.plan"));
    if (!plan && !str_starts_with(key, STR("run:")) && !str_starts_with(key, STR("schedule:")))
        return PAWL_OK;
    return place_wrong(at,
                       "the %s begins with '%.*s', which pawl keeps for its own jobs; choose another prefix",
                       what, STR_ARG(jobrule_prefix(key)));
}

static pawl_status place_job(const struct place *at, const struct job_new *job, size_t bytes_max) {
    const struct text_of texts[] = {{&rule_task, job->task},         {&rule_type, job->type},
                                    {&rule_queue, job->queue},       {&rule_key, job->key},
                                    {&rule_unique, job->unique_key}, {&rule_trace, job->traceparent},
                                    {&rule_agent, job->agent}};
    const struct number_of numbers[] = {
        {"priority", job->priority, -PAWL_JOB_PRIORITY_MAX, PAWL_JOB_PRIORITY_MAX},
        {"max_attempts", job->max_attempts, 0, PAWL_ATTEMPTS_MAX},
        {"flags", job->flags, 0, JOB_AUDIT | JOB_EVENTS},
        {"due_ms", job->due_ms, 0, INT64_MAX / 4},
        {"delay_ms", job->delay_ms, 0, PAWL_JOB_DELAY_MS_MAX},
        {"deadline_ms", job->deadline_ms, 0, INT64_MAX / 4},
        {"timeout_ms", job->timeout_ms, 0, PAWL_LEASE_MS_MAX}};
    if (str_absent(job->task) && str_absent(job->type))
        return place_wrong(at, "the type is missing; name a type, or a task that has one");
    if (!str_absent(job->task) && !str_absent(job->type))
        return place_wrong(at, "a task and a type are named; the task has its own type, so leave one out");
    pawl_status status = place_texts(at, texts, COUNT(texts));
    if (status == PAWL_OK)
        status = place_own_key(at, "key", job->key, job->type);
    if (status == PAWL_OK)
        status = place_own_key(at, "unique key", job->unique_key, job->type);
    if (status == PAWL_OK)
        status = place_numbers(at, numbers, COUNT(numbers));
    if (status == PAWL_OK)
        status = place_json(at, "payload", job->payload, bytes_max);
    return status;
}

pawl_status check_jobs_enqueue(const struct jobs_enqueue *in, pawl_error *err) {
    struct place at = {.op = "jobs_enqueue", .err = err, .count = in->count};
    size_t bytes_max = in->payload_bytes_max != 0 ? in->payload_bytes_max : PAWL_PAYLOAD_BYTES_DEFAULT;
    if (bytes_max > PAWL_PAYLOAD_BYTES_MAX)
        return place_wrong(&at, "payload_bytes_max %zu is above %d", bytes_max, PAWL_PAYLOAD_BYTES_MAX);
    pawl_status status = place_count(&at, "jobs", in->count, in->jobs);
    at.noun = "job";
    for (at.index = 0; status == PAWL_OK && at.index < in->count; at.index++)
        status = place_job(&at, &in->jobs[at.index], bytes_max);
    return status;
}

static pawl_status place_claim(const struct place *at, const struct jobs_claim *in, int min) {
    pawl_status status = place_text(at, &rule_queue, in->queue);
    if (status == PAWL_OK)
        status = place_range(at, "max", in->max, min, PAWL_BATCH_MAX);
    if (status == PAWL_OK && in->max > 0)
        status = place_lease(at, in->lease_ms);
    return status;
}

pawl_status check_jobs_claim(const struct jobs_claim *in, pawl_error *err) {
    struct place at = {.op = "jobs_claim", .err = err};
    pawl_status status = place_instance_id(&at, in->instance);
    return status == PAWL_OK ? place_claim(&at, in, 1) : status;
}

static pawl_status place_finish(const struct place *at, const struct finish_item *item) {
    static const struct text_rule wait_key = {"wait key", TEXT_NAME, true};
    static const struct text_rule wait_step = {"wait step", TEXT_NAME, true};
    static const struct text_rule hash = {"hash", TEXT_NAME, false};
    bool endless = item->outcome == JOB_FAIL || item->outcome == JOB_WAIT;
    const struct number_of numbers[] = {{"outcome", (int64_t)item->outcome, JOB_COMPLETE, JOB_WAIT},
                                        {"delay_ms", item->delay_ms, endless ? -1 : 0, PAWL_JOB_DELAY_MS_MAX},
                                        {"duration_ms", item->duration_ms, 0, INT64_MAX / 4}};
    const struct text_of texts[] = {{&hash, item->input_hash}, {&hash, item->output_hash}};
    pawl_status status = place_numbers(at, numbers, COUNT(numbers));
    if (status == PAWL_OK && item->outcome == JOB_FAIL)
        status = place_range(at, "error class", (int64_t)item->error_class, CLASS_RETRYABLE, CLASS_PERMANENT);
    if (status == PAWL_OK && item->outcome == JOB_WAIT)
        status = place_text(at, &wait_key, item->wait_key);
    if (status == PAWL_OK && item->outcome == JOB_WAIT)
        status = place_text(at, &wait_step, item->wait_step);
    if (status == PAWL_OK)
        status = place_error_text(at, item->error);
    if (status == PAWL_OK)
        status = place_texts(at, texts, COUNT(texts));
    if (status == PAWL_OK)
        status = place_json(at, "output", item->output, PAWL_PAYLOAD_BYTES_MAX);
    if (status == PAWL_OK)
        status = place_json(at, "list of steps", item->steps, PAWL_PAYLOAD_BYTES_MAX);
    return status;
}

pawl_status check_jobs_finish(const struct jobs_finish *in, pawl_error *err) {
    struct place at = {.op = "jobs_finish", .err = err, .count = in->count};
    pawl_status status = place_instance_id(&at, in->instance);
    if (status == PAWL_OK)
        status = place_claim(&at, &in->claim, 0);
    if (status == PAWL_OK)
        status = place_count(&at, "reports", in->count, in->items);
    at.noun = "report";
    for (at.index = 0; status == PAWL_OK && at.index < in->count; at.index++)
        status = place_finish(&at, &in->items[at.index]);
    return status;
}

pawl_status check_jobs_renew(const struct jobs_renew *in, pawl_error *err) {
    struct place at = {.op = "jobs_renew", .err = err, .count = in->count};
    pawl_status status = place_instance_id(&at, in->instance);
    if (status == PAWL_OK)
        status = place_lease(&at, in->lease_ms);
    if (status == PAWL_OK)
        status = place_count(&at, "renewals", in->count, in->items);
    at.noun = "renewal";
    for (at.index = 0; status == PAWL_OK && at.index < in->count; at.index++)
        status = place_json(&at, "progress", in->items[at.index].progress, PAWL_METADATA_BYTES_MAX);
    return status;
}

pawl_status check_job_ids(const char *op, const int64_t *ids, size_t count, pawl_error *err) {
    struct place at = {.op = op, .err = err};
    return place_count(&at, "ids", count, ids);
}

pawl_status check_job_wake(const struct job_wake *in, pawl_error *err) {
    static const struct text_rule wait_key = {"wait key", TEXT_NAME, true};
    struct place at = {.op = "jobs_wake", .err = err};
    pawl_status status = place_text(&at, &wait_key, in->wait_key);
    if (status == PAWL_OK)
        status = place_json(&at, "payload", in->payload, PAWL_PAYLOAD_BYTES_MAX);
    if (status == PAWL_OK)
        status = place_range(&at, "keep_ms", in->keep_ms, 0, PAWL_JOB_DELAY_MS_MAX);
    return status;
}

static pawl_status place_step(const struct place *at, const struct job_step *step) {
    static const struct text_rule name = {"step", TEXT_NAME, true};
    static const struct text_rule hash = {"hash", TEXT_NAME, false};
    const struct text_of texts[] = {
        {&name, step->step}, {&hash, step->input_hash}, {&hash, step->output_hash}};
    const struct number_of numbers[] = {{"index", step->index, 0, INT32_MAX},
                                        {"state", (int64_t)step->state, JOB_STEP_DONE, JOB_STEP_WAITING},
                                        {"attempt", step->attempt, 0, INT32_MAX},
                                        {"duration_ms", step->duration_ms, 0, INT64_MAX / 4}};
    pawl_status status = place_texts(at, texts, COUNT(texts));
    if (status == PAWL_OK)
        status = place_numbers(at, numbers, COUNT(numbers));
    if (status == PAWL_OK)
        status = place_error_text(at, step->error);
    if (status == PAWL_OK)
        status = place_json(at, "output", step->output, PAWL_PAYLOAD_BYTES_MAX);
    return status;
}

pawl_status check_steps_put(const struct steps_put *in, pawl_error *err) {
    struct place at = {.op = "steps_put", .err = err, .count = in->count};
    pawl_status status = place_instance_id(&at, in->instance);
    if (status == PAWL_OK)
        status = place_range(&at, "the number of steps", (int64_t)in->count, 1, PAWL_JOB_STEPS_MAX);
    if (status == PAWL_OK)
        status = place_count(&at, "steps", in->count, in->steps);
    at.noun = "step";
    for (at.index = 0; status == PAWL_OK && at.index < in->count; at.index++)
        status = place_step(&at, &in->steps[at.index]);
    return status;
}

pawl_status check_job_limit(const struct job_limit *in, pawl_error *err) {
    static const struct text_rule key = {"key", TEXT_NAME, true};
    struct place at = {.op = "job_limit_set", .err = err};
    const struct number_of numbers[] = {{"concurrency", in->concurrency, 0, PAWL_JOB_RATE_MAX},
                                        {"rate", in->rate, 0, PAWL_JOB_RATE_MAX},
                                        {"rate_ms", in->rate_ms, in->rate > 0 ? 1 : 0, PAWL_LEASE_MS_MAX},
                                        {"weight", in->weight, 1, PAWL_JOB_WEIGHT_MAX}};
    pawl_status status = place_text(&at, &key, in->key);
    return status == PAWL_OK ? place_numbers(&at, numbers, COUNT(numbers)) : status;
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

pawl_status check_list_limit(const char *op, int limit, pawl_error *err) {
    struct place at = {.op = op, .err = err};
    return place_range(&at, "limit", limit, 1, PAWL_LIST_MAX);
}

pawl_status check_backlog_look(int look_max, pawl_error *err) {
    struct place at = {.op = "job_backlog", .err = err};
    return place_range(&at, "look_max", look_max, 1, PAWL_BACKLOG_LOOK);
}

pawl_status check_job_filter(const struct job_filter *in, pawl_error *err) {
    struct place at = {.op = "jobs", .err = err};
    pawl_status status = place_range(&at, "state", in->state, 0, JOB_DEAD);
    return status == PAWL_OK ? check_list_limit("jobs", in->limit, err) : status;
}

/* A JSON array of texts, as agents and tasks name scopes. Depth 1, and no member may be anything else. */
static pawl_status place_scopes(const struct place *at, pawl_str scopes) {
    pawl_status status = place_json(at, "list of scopes", scopes, PAWL_METADATA_BYTES_MAX);
    if (status != PAWL_OK || str_absent(scopes))
        return status;
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
    static const struct text_rule name = {"name", TEXT_NAME, true};
    static const struct text_rule type = {"type", TEXT_TYPE, true};
    struct place at = {.op = "task_put", .err = err};
    const struct text_of texts[] = {{&name, in->name},
                                    {&rule_agent, in->agent},
                                    {&type, in->type},
                                    {&rule_queue, in->queue},
                                    {&rule_key, in->key}};
    const struct number_of numbers[] = {
        {"priority", in->priority, -PAWL_JOB_PRIORITY_MAX, PAWL_JOB_PRIORITY_MAX},
        {"max_attempts", in->max_attempts, 0, PAWL_ATTEMPTS_MAX},
        {"flags", in->flags, 0, JOB_AUDIT | JOB_EVENTS},
        {"timeout_ms", in->timeout_ms, 0, PAWL_LEASE_MS_MAX},
        {"retention_ms", in->retention_ms, 0, PAWL_HISTORY_MS_MAX},
        {"version", in->version, 0, INT64_MAX}};
    pawl_status status = place_texts(&at, texts, COUNT(texts));
    if (status == PAWL_OK)
        status = place_own_key(&at, "key", in->key, in->type);
    if (status == PAWL_OK)
        status = place_numbers(&at, numbers, COUNT(numbers));
    if (status == PAWL_OK)
        status = place_json(&at, "specification", in->spec, PAWL_PAYLOAD_BYTES_MAX);
    if (status == PAWL_OK)
        status = place_json(&at, "list of parameters", in->params, PAWL_PAYLOAD_BYTES_MAX);
    if (status == PAWL_OK)
        status = place_scopes(&at, in->scopes);
    return status;
}

pawl_status check_schedule(const struct job_schedule *in, pawl_error *err) {
    static const struct text_rule name = {"name", TEXT_NAME, true};
    static const struct text_rule task = {"task", TEXT_NAME, true};
    static const struct text_rule expr = {"expression", TEXT_NAME, true};
    static const struct text_rule zone = {"zone", TEXT_NAME, false};
    struct place at = {.op = "schedule_put", .err = err};
    const struct text_of texts[] = {
        {&name, in->name}, {&task, in->task}, {&expr, in->expr}, {&zone, in->zone}};
    const struct number_of numbers[] = {
        {"kind", (int64_t)in->kind, JOB_SCHEDULE_ONCE, JOB_SCHEDULE_CRON},
        {"missed policy", (int64_t)in->missed, MISSED_SKIP, MISSED_ALL},
        {"missed_max", in->missed_max, in->missed == MISSED_ALL ? 1 : 0, PAWL_INSTANTS_MAX},
        {"overlap policy", (int64_t)in->overlap, OVERLAP_ALLOW, OVERLAP_QUEUE},
        {"jitter_ms", in->jitter_ms, 0, PAWL_LEASE_MS_MAX},
        {"start_ms", in->start_ms, 0, INT64_MAX / 4},
        {"end_ms", in->end_ms, 0, INT64_MAX / 4},
        {"next_ms", in->next_ms, 0, INT64_MAX / 4},
        {"version", in->version, 0, INT64_MAX}};
    pawl_status status = place_texts(&at, texts, COUNT(texts));
    if (status == PAWL_OK)
        status = place_numbers(&at, numbers, COUNT(numbers));
    if (status == PAWL_OK)
        status = place_json(&at, "list of parameters", in->params, PAWL_PAYLOAD_BYTES_MAX);
    return status;
}

pawl_status check_schedule_fire(const struct schedule_fire *in, pawl_error *err) {
    static const struct text_rule name = {"name", TEXT_NAME, true};
    struct place at = {.op = "schedule_fire", .err = err};
    pawl_status status = place_text(&at, &name, in->name);
    if (status == PAWL_OK)
        status = place_range(&at, "the number of instants", (int64_t)in->count, 0, PAWL_INSTANTS_MAX);
    if (status == PAWL_OK && in->count > 0 && (in->instants == NULL || in->due_ms == NULL))
        return place_wrong(&at, "the call announces %zu instants but has none", in->count);
    for (size_t i = 0; status == PAWL_OK && i < in->count; i++) {
        int64_t above = i > 0 ? in->instants[i - 1] : 0;
        if (in->instants[i] <= above || in->instants[i] > in->through_ms)
            return place_wrong(&at,
                               "instant %" PRId64 " is not between the one before and through_ms %" PRId64,
                               in->instants[i], in->through_ms);
        status = place_range(&at, "due_ms", in->due_ms[i], 1, INT64_MAX / 4);
    }
    if (status == PAWL_OK && in->next_ms != 0 && in->next_ms <= in->through_ms)
        return place_wrong(&at, "next_ms %" PRId64 " is not after through_ms %" PRId64, in->next_ms,
                           in->through_ms);
    return status;
}

pawl_status check_agent(const struct agent *in, pawl_error *err) {
    static const struct text_rule name = {"name", TEXT_NAME, true};
    struct place at = {.op = "agent_put", .err = err};
    pawl_status status = place_text(&at, &name, in->name);
    pawl_str scope;
    if (status == PAWL_OK)
        status = place_scopes(&at, in->scopes);
    for (size_t n = 0; status == PAWL_OK && scope_list_next(in->scopes, &n, &scope);)
        status = scope_check_name(scope, true, err);
    return status;
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
