/* Routes of the lease API, for workers over HTTP: register, beat, claim, renew, complete, fail, release. */
#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "domain/workstatus.h"
#include "operations/front/fields.h"
#include "server/http/call.h"
#include "server/lease_watch.h"
#include "server/server.h"
#include "view/names.h"
#include "work/run/start.h"

enum { LEASE_JOBS = 3 }; /* of LEASE_KINDS, counted from 1; before it come the kinds of messages */
#define LEASE_KINDS "outbox|inbox|jobs"

/* JSON as text; what is not there stays as it is. */
static pawl_status member_text(struct request *request, const struct tree *tree, pawl_str *text,
                               pawl_error *err) {
    return tree != NULL ? tree_text(request->arena, tree, 0, text, err) : PAWL_OK;
}

static pawl_uuid instance_of(const struct request *request) { return request_value(request, "id").uuid; }

static const struct column joined_columns[] = {
    {COLUMN(UUID, "id")}, {COLUMN(TIME, "now")}, {COLUMN(TIME, "lease_until")}, {COLUMN(INT, "lanes")}};

static pawl_status join(struct request *request, pawl_error *err) {
    struct instance_new in = {.service = request_text(request, "service"),
                              .host = request_text(request, "host"),
                              .slots = (int)request_number(request, "slots", 0),
                              .lease_ms = request_number(request, "lease_ms", 0)};
    struct instance_grant out;
    const struct tree *kinds = request_value(request, "kinds").tree;
    for (size_t i = 0; i < kinds->count; i++) {
        int kind = str_choice(LEASE_KINDS, kinds->items[i]->text) + 1;
        if (kind == 0)
            return error_set(err, PAWL_INVALID, "leases",
                             "kinds: it has \"%.*s\"; the kinds are outbox, inbox and jobs",
                             STR_ARG(kinds->items[i]->text));
        in.kinds |= kind == LEASE_JOBS ? KIND_BIT_JOBS : KIND_BIT(kind);
    }
    if (str_absent(in.host))
        in.host = STR("http");
    TRY(uuid_next(&in.id, err));
    TRY(request_json(request, "metadata", &in.metadata, err));
    TRY(request->store->ops->core.instance_register(request->store, &in, &out, err));
    return REQUEST_RECORD(request, joined_columns, err, cell_uuid(in.id), cell_time(out.now_ms),
                          cell_time(out.lease_until_ms), cell_int(out.lanes_owned));
}

static pawl_status beat(struct request *request, pawl_error *err) {
    struct beat_result out;
    pawl_uuid id = instance_of(request);
    TRY(request->store->ops->core.heartbeat(request->store, id, -1, &out, err));
    return REQUEST_RECORD(request, joined_columns, err, cell_uuid(id), cell_time(out.now_ms),
                          cell_time(out.lease_until_ms),
                          cell_int(out.lanes_owned[KIND_OUTBOX] + out.lanes_owned[KIND_INBOX]));
}

static pawl_status leave(struct request *request, pawl_error *err) {
    return request->store->ops->core.instance_deregister(request->store, instance_of(request), err);
}

/* ---- Claims */

static const struct column item_columns[] = {
    {COLUMN(INT, "token")},        {COLUMN(TEXT, "id")},          {COLUMN(TEXT, "kind")},
    {COLUMN(TEXT, "type")},        {COLUMN(TEXT, "stream")},      {COLUMN(TEXT, "topic")},
    {COLUMN(TEXT, "queue")},       {COLUMN(TEXT, "task")},        {COLUMN(INT, "attempt")},
    {COLUMN(BOOL, "renew_first")}, {COLUMN(TIME, "lease_until")}, {COLUMN(TEXT, "traceparent")},
    {COLUMN(JSON, "headers")},     {COLUMN(JSON, "progress")},    {COLUMN(JSON, "payload")}};

/* Workers need the complete payload: nothing is hidden from them. */
static void item_row(struct request *request, const struct cell *cells) {
    struct call *call = call_of(request);
    AUTO_BUF(text, 0);
    output_cells_json(&text, item_columns, sizeof item_columns / sizeof *item_columns, cells);
    if (text.failed)
        call->out.failed = true;
    else
        json_raw(&call->json, buf_str(&text));
}

/* A retry waited for its time, not for a worker. */
static void watch_job(struct request *request, const struct job *job, int64_t lease_ms) {
    int64_t since_ms = job->due_ms > job->put_ms ? job->due_ms : job->put_ms;
    const struct lease_claimed item = {.ref = {job->token, lease_job_id(job->id)},
                                       .kind = str_equal_cstr(job->type, RUN_PAGE_TYPE) ? ROLLUP_PAGE
                                                                                        : ROLLUP_JOB,
                                       .now_ms = job->lease_until_ms - lease_ms,
                                       .since_ms = job->attempts <= 1 ? since_ms : 0};
    lease_watch_claimed(call_of(request)->server->leases, &item);
}

static void watch_message(struct request *request, const struct item *message, int64_t lease_ms) {
    const struct lease_claimed item = {.ref = {message->token, message->id},
                                       .kind = (enum rollup_kind)message->kind,
                                       .now_ms = message->lease_until_ms - lease_ms,
                                       .since_ms = message->attempt <= 1 ? message->put_ms : 0};
    lease_watch_claimed(call_of(request)->server->leases, &item);
}

/* Any worker may take a job of a queue; a message is for the owner of its lane. */
static const char *wait_name(struct request *request) {
    char id[UUID_TEXT_BYTES];
    if (request_choice(request, "kind") == LEASE_JOBS)
        return arena_printf(request->arena, "jobs %.*s", STR_ARG(request_text(request, "queue")));
    return arena_printf(request->arena, "%d %s", request_choice(request, "kind"),
                        uuid_format(instance_of(request), id));
}

/* Nothing was found. The name is made once: the loop compares it while another try runs. */
static pawl_status claim_empty(struct request *request, pawl_error *err) {
    struct call *call = call_of(request);
    call->wait_ms = request_number(request, "wait_ms", 0);
    if (call->wait_ms > 0 && str_absent(call->wait_for))
        call->wait_for = str_from(wait_name(request));
    if (str_absent(call->wait_for))
        call->wait_ms = 0;
    request_list(request, item_columns, COLUMN_COUNT(item_columns));
    return request_list_end(request, NULL, err);
}

static pawl_status claim_jobs(struct request *request, pawl_error *err) {
    struct jobs_claim in = {.instance = instance_of(request),
                            .queue = request_text(request, "queue"),
                            .max = (int)request_number(request, "max", 1),
                            .lease_ms = request_number(request, "lease_ms", PAWL_JOB_LEASE_MS_DEFAULT)};
    struct job_list out = {.count = 0};
    int64_t began_us = clock_boot_us();
    pawl_status status = call_request(request->self, call_of(request)->tries, &in.request, err);
    if (status == PAWL_OK)
        status = request->store->ops->jobs->claim(request->store, &in, request->arena, &out, err);
    lease_watch_asked(call_of(request)->server->leases, ROLLUP_JOB, began_us, status == PAWL_OK, out.count);
    if (status != PAWL_OK)
        return status;
    if (out.count == 0)
        return claim_empty(request, err);
    request_list(request, item_columns, COLUMN_COUNT(item_columns));
    for (size_t i = 0; i < out.count; i++) {
        const struct job *job = &out.jobs[i];
        watch_job(request, job, in.lease_ms);
        item_row(request, (struct cell[]){cell_int(job->token),
                                          cell_cstr(arena_printf(request->arena, "%lld", (long long)job->id)),
                                          cell_cstr("jobs"), cell_text(job->type), cell_none(), cell_none(),
                                          cell_text(job->queue), cell_text(job->task),
                                          cell_int(job->attempts), cell_bool(job_renew_first(job)),
                                          cell_time(job->lease_until_ms), cell_text(job->traceparent),
                                          cell_none(), cell_text(job->progress), cell_text(job->payload)});
    }
    return request_list_end(request, NULL, err);
}

static pawl_status claim(struct request *request, pawl_error *err) {
    if (request_choice(request, "kind") == LEASE_JOBS)
        return claim_jobs(request, err);
    struct messages_claim in = {.instance = instance_of(request),
                                .kind = (enum store_kind)request_choice(request, "kind"),
                                .max = (int)request_number(request, "max", 1),
                                .lease_ms = request_number(request, "lease_ms", PAWL_LEASE_MS_DEFAULT)};
    struct item_list out = {.count = 0};
    int64_t began_us = clock_boot_us();
    pawl_status status = call_request(request->self, call_of(request)->tries, &in.request, err);
    if (status == PAWL_OK)
        status = request->store->ops->core.messages_claim(request->store, &in, request->arena, &out, err);
    lease_watch_asked(call_of(request)->server->leases, ROLLUP_MESSAGES, began_us, status == PAWL_OK,
                      out.count);
    if (status != PAWL_OK)
        return status;
    if (out.count == 0)
        return claim_empty(request, err);
    request_list(request, item_columns, COLUMN_COUNT(item_columns));
    for (size_t i = 0; i < out.count; i++) {
        const struct item *item = &out.items[i];
        char id[UUID_TEXT_BYTES];
        watch_message(request, item, in.lease_ms);
        item_row(request, (struct cell[]){cell_int(item->token), cell_cstr(uuid_format(item->id, id)),
                                          cell_cstr(kind_name(item->kind)), cell_text(item->type),
                                          cell_text(item->stream), cell_text(item->topic), cell_none(),
                                          cell_none(), cell_int(item->attempt), cell_bool(item->suspect),
                                          cell_time(item->lease_until_ms), cell_text(item->traceparent),
                                          cell_text(item->headers), cell_none(), cell_text(item->payload)});
    }
    return request_list_end(request, NULL, err);
}

/* ---- Reports */

static const struct field report_fields[] = {
    {.name = "token", .in = IN_BODY, .type = FIELD_INT, .required = true, .min = 1},
    {.name = "id", .in = IN_BODY, .type = FIELD_TEXT, .required = true, .max = 64},
    {.name = "error", .in = IN_BODY, .type = FIELD_TEXT, .max = PAWL_ERROR_BYTES_MAX},
    {.name = "permanent", .in = IN_BODY, .type = FIELD_BOOL},
    {.name = "delay_ms", .in = IN_BODY, .type = FIELD_INT, .max = PAWL_RETRY_MS_MAX},
    {.name = "output", .in = IN_BODY, .type = FIELD_JSON},
    {.name = "progress", .in = IN_BODY, .type = FIELD_JSON},
};

enum { REPORT_FIELDS = sizeof report_fields / sizeof *report_fields };
static const struct operation report_item = {FIELDS(report_fields)};
enum { R_TOKEN, R_ID, R_ERROR, R_PERMANENT, R_DELAY, R_OUTPUT, R_PROGRESS };
enum report { REPORT_COMPLETE = 1, REPORT_FAIL, REPORT_RELEASE, REPORT_RENEW };

/* One item of the body: its values and its id as the kind has them. */
struct reported {
    struct value values[REPORT_FIELDS + 1];
    pawl_uuid id;
    int64_t job;
};

static pawl_status read_items(struct request *request, struct reported **items, size_t *count,
                              pawl_error *err) {
    const struct tree *list = request_value(request, "items").tree;
    bool jobs = request_choice(request, "kind") == LEASE_JOBS;
    struct reported *read = arena_array(request->arena, list->count, sizeof *read);
    if (read == NULL)
        return error_set(err, PAWL_NO_MEMORY, "leases", "no memory for items");
    for (size_t i = 0; i < list->count; i++) {
        TRY(operation_read(&report_item, "an item", list->items[i], read[i].values, err));
        if (!(jobs ? str_to_i64(read[i].values[R_ID].text, 1, INT64_MAX, &read[i].job)
                   : uuid_parse(read[i].values[R_ID].text, &read[i].id)))
            return error_set(err, PAWL_INVALID, "leases", "items: \"%.*s\" is not an id of that kind",
                             STR_ARG(read[i].values[R_ID].text));
    }
    *items = read;
    *count = list->count;
    return PAWL_OK;
}

static const struct column answer_columns[] = {{COLUMN(TEXT, "id")}, {COLUMN(TEXT, "answer")}};

static pawl_status answers(struct request *request, const struct reported *items,
                           const enum store_answer *list, size_t count, pawl_error *err) {
    request_list(request, answer_columns, COLUMN_COUNT(answer_columns));
    for (size_t i = 0; i < count; i++)
        request_row(request,
                    (struct cell[]){cell_text(items[i].values[R_ID].text), cell_cstr(answer_name(list[i]))});
    return request_list_end(request, NULL, err);
}

/* Counts what ended, if the store accepted the report. */
static void watch_ends(struct request *request, enum report report, const struct reported *items,
                       const enum store_answer *list, size_t count) {
    bool jobs = request_choice(request, "kind") == LEASE_JOBS;
    for (size_t i = 0; i < count; i++) {
        const struct value *v = items[i].values;
        enum rollup_result failed = v[R_PERMANENT].number != 0 ? ROLLUP_PERMANENT : ROLLUP_RETRY;
        struct lease_ref ref = {v[R_TOKEN].number, jobs ? lease_job_id(items[i].job) : items[i].id};
        if (list[i] == ANSWER_APPLIED)
            lease_watch_reported(call_of(request)->server->leases, ref,
                                 report == REPORT_COMPLETE ? ROLLUP_DONE
                                 : report == REPORT_FAIL   ? failed
                                                           : ROLLUP_OTHER);
    }
}

static pawl_status finish_jobs(struct request *request, enum report report, struct reported *items,
                               size_t count, pawl_error *err) {
    struct finish_item *reports = arena_array(request->arena, count, sizeof *reports);
    struct jobs_finish in = {.instance = instance_of(request), .items = reports, .count = count};
    struct finish_result out;
    if (reports == NULL)
        return error_set(err, PAWL_NO_MEMORY, "leases", "no memory for reports");
    for (size_t i = 0; i < count; i++) {
        const struct value *v = items[i].values;
        reports[i] = (struct finish_item){.ref = {v[R_TOKEN].number, items[i].job},
                                          .outcome = report == REPORT_COMPLETE ? JOB_COMPLETE
                                                     : report == REPORT_FAIL   ? JOB_FAIL
                                                                               : JOB_RELEASE,
                                          .error_class = v[R_PERMANENT].number != 0 ? CLASS_PERMANENT
                                                                                    : CLASS_RETRYABLE,
                                          .delay_ms = v[R_DELAY].present      ? v[R_DELAY].number
                                                      : report == REPORT_FAIL ? -1
                                                                              : 0,
                                          .error = v[R_ERROR].text};
        TRY(member_text(request, v[R_OUTPUT].tree, &reports[i].output, err));
    }
    in.claim.lease_ms = PAWL_JOB_LEASE_MS_DEFAULT;
    TRY(request->store->ops->jobs->finish(request->store, &in, request->arena, &out, err));
    watch_ends(request, report, items, out.answers, count);
    return answers(request, items, out.answers, count, err);
}

static pawl_status renew_jobs(struct request *request, struct reported *items, size_t count,
                              pawl_error *err) {
    struct renew_item *renewals = arena_array(request->arena, count, sizeof *renewals);
    struct jobs_renew in = {.instance = instance_of(request),
                            .items = renewals,
                            .count = count,
                            .lease_ms = request_number(request, "lease_ms", PAWL_JOB_LEASE_MS_DEFAULT)};
    struct renew_result out;
    if (renewals == NULL)
        return error_set(err, PAWL_NO_MEMORY, "leases", "no memory for renewals");
    for (size_t i = 0; i < count; i++) {
        renewals[i].ref = (struct job_ref){items[i].values[R_TOKEN].number, items[i].job};
        TRY(member_text(request, items[i].values[R_PROGRESS].tree, &renewals[i].progress, err));
    }
    TRY(request->store->ops->jobs->renew(request->store, &in, request->arena, &out, err));
    request_list(request, answer_columns, COLUMN_COUNT(answer_columns));
    for (size_t i = 0; i < count; i++)
        request_row(request,
                    (struct cell[]){cell_text(items[i].values[R_ID].text),
                                    cell_cstr(out.cancel[i] ? "cancel" : answer_name(out.answers[i]))});
    return request_list_end(request, NULL, err);
}

static pawl_status complete_messages(struct request *request, struct reported *items, size_t count,
                                     struct answer_list *out, pawl_error *err) {
    struct complete_item *done = arena_array(request->arena, count, sizeof *done);
    struct messages_complete in = {.instance = instance_of(request),
                                   .kind = (enum store_kind)request_choice(request, "kind"),
                                   .items = done,
                                   .count = count};
    if (done == NULL)
        return error_set(err, PAWL_NO_MEMORY, "leases", "no memory for reports");
    for (size_t i = 0; i < count; i++)
        done[i] = (struct complete_item){{items[i].values[R_TOKEN].number, items[i].id},
                                         in.kind == KIND_OUTBOX ? WORK_PUBLISHED : WORK_COMPLETED};
    return request->store->ops->core.messages_complete(request->store, &in, request->arena, out, err);
}

static pawl_status fail_messages(struct request *request, struct reported *items, size_t count,
                                 struct answer_list *out, pawl_error *err) {
    struct fail_item *failed = arena_array(request->arena, count, sizeof *failed);
    struct messages_fail in = {.instance = instance_of(request),
                               .kind = (enum store_kind)request_choice(request, "kind"),
                               .items = failed,
                               .count = count};
    if (failed == NULL)
        return error_set(err, PAWL_NO_MEMORY, "leases", "no memory for reports");
    for (size_t i = 0; i < count; i++) {
        const struct value *v = items[i].values;
        failed[i] =
            (struct fail_item){.ref = {v[R_TOKEN].number, items[i].id},
                               .error = str_absent(v[R_ERROR].text) ? STR("failed") : v[R_ERROR].text,
                               .error_class = v[R_PERMANENT].number != 0 ? CLASS_PERMANENT : CLASS_RETRYABLE,
                               .delay_ms = v[R_DELAY].present ? v[R_DELAY].number : -1};
    }
    return request->store->ops->core.messages_fail(request->store, &in, request->arena, out, err);
}

static pawl_status give_messages(struct request *request, bool renew, struct reported *items, size_t count,
                                 struct answer_list *out, pawl_error *err) {
    struct release_item *released = arena_array(request->arena, count, sizeof *released);
    struct item_ref *refs = arena_array(request->arena, count, sizeof *refs);
    enum store_kind kind = (enum store_kind)request_choice(request, "kind");
    if (released == NULL || refs == NULL)
        return error_set(err, PAWL_NO_MEMORY, "leases", "no memory for reports");
    for (size_t i = 0; i < count; i++) {
        refs[i] = (struct item_ref){items[i].values[R_TOKEN].number, items[i].id};
        released[i] = (struct release_item){.ref = refs[i], .delay_ms = items[i].values[R_DELAY].number};
    }
    struct messages_release release = {instance_of(request), kind, released, count};
    struct messages_renew renewal = {instance_of(request), kind, refs, count,
                                     request_number(request, "lease_ms", PAWL_LEASE_MS_DEFAULT)};
    return renew
               ? request->store->ops->core.messages_renew(request->store, &renewal, request->arena, out, err)
               : request->store->ops->core.messages_release(request->store, &release, request->arena, out,
                                                            err);
}

static pawl_status report_items(struct request *request, enum report report, pawl_error *err) {
    struct reported *items = NULL;
    struct answer_list out = {.answers = NULL};
    size_t count = 0;
    TRY(read_items(request, &items, &count, err));
    if (request_choice(request, "kind") == LEASE_JOBS)
        return report == REPORT_RENEW ? renew_jobs(request, items, count, err)
                                      : finish_jobs(request, report, items, count, err);
    switch (report) {
    case REPORT_COMPLETE:
        TRY(complete_messages(request, items, count, &out, err));
        break;
    case REPORT_FAIL:
        TRY(fail_messages(request, items, count, &out, err));
        break;
    default:
        TRY(give_messages(request, report == REPORT_RENEW, items, count, &out, err));
        break;
    }
    if (report != REPORT_RENEW)
        watch_ends(request, report, items, out.answers, count);
    return answers(request, items, out.answers, count, err);
}

static pawl_status complete(struct request *request, pawl_error *err) {
    return report_items(request, REPORT_COMPLETE, err);
}
static pawl_status fail(struct request *request, pawl_error *err) {
    return report_items(request, REPORT_FAIL, err);
}
static pawl_status release(struct request *request, pawl_error *err) {
    return report_items(request, REPORT_RELEASE, err);
}
static pawl_status renew(struct request *request, pawl_error *err) {
    return report_items(request, REPORT_RENEW, err);
}

/* ---- Fields and routes */

#define FIELD_ROW_INSTANCE                                                                                   \
    { FIELD(FIELD_UUID, IN_PATH, "id", "The id of the worker's instance."), .required = true }
#define FIELD_ROW_LEASE_KIND                                                                                 \
    { CHOICE_FIELD(IN_BODY, "kind", LEASE_KINDS, "Of the work."), .required = true }
#define FIELD_ROW_LEASE                                                                                      \
    { INT_FIELD(IN_BODY, "lease_ms", PAWL_LEASE_MS_MIN, PAWL_LEASE_MS_MAX, "How long the lease lasts.") }
static const struct field join_fields[] = {
    {TEXT_FIELD(IN_BODY, "service", PAWL_NAME_BYTES_MAX, "Name of the worker's service."), .required = true},
    {.name = "kinds",
     .in = IN_BODY,
     .type = FIELD_TEXTS,
     .required = true,
     .min = 1,
     .max = 3,
     .help = "What it handles: outbox, inbox, jobs.",
     .example = "[\"jobs\"]"},
    {INT_FIELD(
        IN_BODY, "slots", 0, PAWL_SLOTS_MAX,
        "How many items it handles at once, in the order of the claim. If given, only attempts that were "
        "started count when it dies, and it must renew items with renew_first before starting them.")},
    {TEXT_FIELD(IN_BODY, "host", PAWL_NAME_BYTES_MAX, "Where it runs.")},
    {FIELD(FIELD_OBJECT, IN_BODY, "metadata", "Shown with the instance.")},
    FIELD_ROW_LEASE};
static const struct field instance_fields[] = {FIELD_ROW_INSTANCE};
static const struct field claim_fields[] = {
    FIELD_ROW_INSTANCE,
    FIELD_ROW_LEASE_KIND,
    {INT_FIELD(IN_BODY, "max", 1, PAWL_BATCH_DEFAULT, "At most this many; 1 by default.")},
    {TEXT_FIELD(IN_BODY, "queue", PAWL_NAME_BYTES_MAX, "Of jobs.")},
    {INT_FIELD(IN_BODY, "wait_ms", 0, PAWL_HTTP_CLAIM_WAIT_MS_MAX,
               "While there is nothing: how long to wait for it before the answer is empty; 0 by default.")},
    FIELD_ROW_LEASE};
static const struct field items_fields[] = {
    FIELD_ROW_INSTANCE,
    FIELD_ROW_LEASE_KIND,
    {.name = "items",
     .in = IN_BODY,
     .type = FIELD_OBJECTS,
     .required = true,
     .min = 1,
     .max = PAWL_BATCH_DEFAULT,
     .help = "Objects with token and id as claimed; fail: error, permanent, delay_ms; complete: output; "
             "renew: progress.",
     .example = "[{\"token\": 1, \"id\": \"01890a5d-ac96-774b-bcce-b302099a8057\"}]"},
    FIELD_ROW_LEASE};

#define LEASES(route_method, route_path)                                                                     \
    ROUTE(route_method, route_path), .role = ROLE_WORKER, .changes = CHANGES_WORK, .pool = POOL_LEASE

static const struct operation routes[] = {
    {OPERATION("lease.register", "Register a worker; its id is used in the other calls"),
     LEASES(METHOD_POST, "/v1/leases"), FIELDS(join_fields), .shape = ANSWER_RECORD, COLUMNS(joined_columns),
     .run = join},
    {OPERATION("lease.beat", "Send a heartbeat; a worker silent for longer than its lease loses its work"),
     LEASES(METHOD_POST, "/v1/leases/{id}/beat"), FIELDS(instance_fields), .shape = ANSWER_RECORD,
     COLUMNS(joined_columns), .run = beat},
    {OPERATION("lease.claim", "Claim work; each item has a token that its report must carry"),
     LEASES(METHOD_POST, "/v1/leases/{id}/claim"), FIELDS(claim_fields), COLUMNS(item_columns), .run = claim},
    {OPERATION("lease.renew", "Renew the leases of claimed work; a cancelled job answers cancel"),
     LEASES(METHOD_POST, "/v1/leases/{id}/renew"), FIELDS(items_fields), COLUMNS(answer_columns),
     .run = renew},
    {OPERATION("lease.complete",
               "Report work as done; stale means that the grant had ended and nothing changed"),
     LEASES(METHOD_POST, "/v1/leases/{id}/complete"), FIELDS(items_fields), COLUMNS(answer_columns),
     .run = complete},
    {OPERATION("lease.fail", "Report work as failed"), LEASES(METHOD_POST, "/v1/leases/{id}/fail"),
     FIELDS(items_fields), COLUMNS(answer_columns), .run = fail},
    {OPERATION("lease.release", "Give claimed work back; no attempt is counted"),
     LEASES(METHOD_POST, "/v1/leases/{id}/release"), FIELDS(items_fields), COLUMNS(answer_columns),
     .run = release},
    {OPERATION("lease.deregister", "Deregister a worker; what it holds is given back"),
     LEASES(METHOD_DELETE, "/v1/leases/{id}"), FIELDS(instance_fields), .shape = ANSWER_EMPTY, .status = 204,
     .run = leave},
};

const struct operation_table lease_routes = OPERATION_TABLE(routes);
