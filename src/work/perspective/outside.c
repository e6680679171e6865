/* Perspectives that are programs or endpoints: at least once, each event with the key stream:version. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "handler/program_run.h"
#include "handler/webhook.h"
#include "process/program.h"
#include "store/apply.h"
#include "work/perspective/int.h"

enum { KEY_BYTES = PAWL_STREAM_BYTES_MAX + 32 };

struct said {
    enum handler_outcome outcome;
    pawl_str traceparent;   /* what is passed to the program or endpoint */
    int64_t retry_after_ms; /* 0 = by the backoff */
    int attempt;            /* from 1 */
    char error[512];
};

/* A call may not outlast its lease. */
static int64_t call_deadline(const struct work *work) {
    const struct perspectives_config *config = &work->all->config;
    int64_t ms = config->timeout_ms > 0 ? config->timeout_ms : PAWL_HANDLER_TIMEOUT_MS_DEFAULT;
    int64_t lease_ms = config->lease_ms / 4 * 3;
    return clock_boot_ms() + (ms < lease_ms ? ms : lease_ms);
}

/* The idempotency key of a call: that of its last event. */
static char *batch_key(const struct checkpoint_batch *batch, char key[static KEY_BYTES]) {
    const pawl_stored_event *last = &batch->list.events[batch->list.count - 1];
    snprintf(key, KEY_BYTES, "%.*s:%lld", STR_ARG(last->stream), (long long)last->version);
    return key;
}

/* Its program: the words of a command that is started for every batch, or the processes of one that is kept.
 */
static pawl_status find_program(const struct work *work, const struct perspective_row *row,
                                struct program_call *call, pawl_error *err) {
    struct perspectives *all = work->all;
    struct arena *arena = work->projector->arena;
    const pawl_str prefix = STR(PERSPECTIVE_PIPE);
    pawl_str command = row->target;
    bool kept = str_starts_with(command, prefix);
    if (kept)
        command = (pawl_str){command.ptr + prefix.len, command.len - prefix.len};
    char *name = arena_copy(arena, command.ptr, command.len), **argv = NULL;
    if (name == NULL)
        return error_no_memory(err, "perspective");
    pawl_status status = command_split(arena, command, &argv, err);
    if (status == PAWL_OK)
        status = program_find(arena, argv[0], &argv[0], err);
    if (status == PAWL_NOT_FOUND || status == PAWL_INVALID) {
        int64_t wait_ms =
            start_failed(launcher_failures(all->launcher), argv != NULL ? argv[0] : name, status, err->text);
        perspective_hold(all, row->key, wait_ms);
    }
    if (status != PAWL_OK)
        return err->status = PAWL_UNAVAILABLE;
    call->argv = argv;
    call->launcher = all->launcher;
    if (!kept)
        return PAWL_OK;
    pthread_mutex_lock(&all->lock); /* two slots must not both add it */
    call->pipe = pipe_find(all->pipes, name);
    struct pipe_config config = {.name = name, .argv = argv, .processes_max = all->config.helpers + 1};
    if (call->pipe == NULL)
        status = pipe_add(all->pipes, &config, &call->pipe, err);
    pthread_mutex_unlock(&all->lock);
    return status;
}

static pawl_status run_program(const struct work *work, const struct perspective_row *row, pawl_str body,
                               const struct checkpoint_batch *batch, struct said *said, pawl_error *err) {
    char key[KEY_BYTES], name[sizeof(((struct note *)0)->perspective)], attempt[16];
    bool replay = batch->list.events[batch->list.count - 1].replay;
    struct program_result result;
    const struct environment_pair pairs[] = {{"PAWL_PERSPECTIVE", name},
                                             {"PAWL_IDEMPOTENCY_KEY", batch_key(batch, key)},
                                             {"PAWL_ATTEMPT", attempt},
                                             {"PAWL_REPLAY", replay ? "1" : NULL},
                                             {"TRACEPARENT", said->traceparent.ptr}};
    const struct environment_pair names[] = {
        {"perspective", name}, {"idempotency_key", key}, {"traceparent", said->traceparent.ptr}};
    struct program_call call = {.what = "events",
                                .body = body,
                                .pairs = pairs,
                                .pair_count = sizeof(pairs) / sizeof(*pairs),
                                .names = names,
                                .name_count = sizeof(names) / sizeof(*names),
                                .attempt = said->attempt,
                                .out_kept = PROCESS_STDOUT_KEPT,
                                .limits = {call_deadline(work), work->cancel},
                                .timeout_ms = work->all->config.timeout_ms};
    snprintf(name, sizeof(name), "%.*s", STR_ARG(row->key));
    snprintf(attempt, sizeof(attempt), "%d", said->attempt);
    pawl_status status = find_program(work, row, &call, err);
    if (status != PAWL_OK)
        return status;
    program_run(&call, &result);
    buf_free(&result.output);
    if (result.process.outcome == PROCESS_NOT_STARTED) {
        perspective_hold(work->all, row->key, result.process.wait_ms);
        return error_set(err, PAWL_UNAVAILABLE, "perspective", "%s", result.verdict.error);
    }
    said->outcome = result.verdict.outcome;
    said->retry_after_ms = result.verdict.delay_ms > 0 ? result.verdict.delay_ms : 0;
    snprintf(said->error, sizeof(said->error), "%.511s", result.verdict.error);
    return PAWL_OK;
}

static pawl_status call_endpoint(const struct work *work, const struct perspective_row *row, pawl_str body,
                                 const struct checkpoint_batch *batch, struct said *said, pawl_error *err) {
    char key[KEY_BYTES];
    struct projector *projector = work->projector;
    struct http_header headers[WEBHOOK_HEADERS_MAX + 1];
    size_t count = 0;
    struct webhook_event event = {.id = str_from(batch_key(batch, key)),
                                  .source = STR("/pawl/perspectives"),
                                  .type = row->key,
                                  .subject = batch->list.events[0].stream,
                                  .traceparent = said->traceparent,
                                  .body = body};
    pawl_status status = projector->client == NULL ? http_client_create(&projector->client, err) : PAWL_OK;
    if (status == PAWL_OK)
        status =
            webhook_headers(&event, NULL, clock_wall_ms() / 1000, projector->arena, headers, &count, err);
    char *url = arena_copy(projector->arena, row->target.ptr, row->target.len);
    if (status == PAWL_OK && url == NULL)
        status = error_no_memory(err, "perspective");
    if (status != PAWL_OK)
        return status;
    headers[count++] = (struct http_header){"Idempotency-Key", str_from(key)};
    struct http_request request = {.url = url,
                                   .headers = headers,
                                   .header_count = count,
                                   .body = body,
                                   .deadline_ms = call_deadline(work),
                                   .allow_private = true, /* only an operator can register it */
                                   .cancel = work->cancel};
    struct http_response response = {.retry_after_ms = -1};
    pawl_error inner = {0};
    status = http_call(projector->client, &request, projector->arena, &response, &inner);
    static const enum handler_outcome meant[] = {[HTTP_DONE] = HANDLED_DONE,
                                                 [HTTP_RETRY] = HANDLED_RETRY,
                                                 [HTTP_PERMANENT] = HANDLED_PERMANENT,
                                                 [HTTP_GONE] = HANDLED_PERMANENT};
    said->outcome = status == PAWL_OK ? meant[http_judge(response.status)] : HANDLED_RETRY;
    if (status != PAWL_OK)
        snprintf(said->error, sizeof(said->error), "%s", inner.text);
    else if (said->outcome != HANDLED_DONE)
        snprintf(said->error, sizeof(said->error), "the endpoint answered with HTTP status %d",
                 response.status);
    if (status == PAWL_OK && response.retry_after_ms > 0)
        said->retry_after_ms = response.retry_after_ms;
    return PAWL_OK;
}

static pawl_status hand_over(const struct work *work, const struct perspective_row *row,
                             const struct checkpoint_batch *batch, struct said *said, pawl_error *err) {
    struct buf body;
    struct observed_batch seen;
    pawl_str links[TRACER_LINKS_MAX];
    struct observed_batch_end end = {.perspective = row->key, .links = links, .streams = 1};
    if (batch->list.count == 0) {
        said->outcome = HANDLED_DONE;
        return PAWL_OK;
    }
    for (size_t i = 1; i < batch->list.count && end.link_count < TRACER_LINKS_MAX; i++)
        links[end.link_count++] = batch->list.events[i].traceparent;
    seen.span.tracer = NULL;
    observe_batch(work->all->config.observer, batch->list.events[0].traceparent, &seen);
    said->traceparent = span_traceparent(&seen.span, batch->list.events[0].traceparent);
    buf_init(&body, 0);
    apply_json(&body, batch->list.events, batch->list.count);
    pawl_status status = buf_status(&body, "perspective", err);
    if (status == PAWL_OK)
        status = row->run == RUN_COMMAND ? run_program(work, row, buf_str(&body), batch, said, err)
                                         : call_endpoint(work, row, buf_str(&body), batch, said, err);
    buf_free(&body);
    end.events = (int64_t)batch->list.count;
    end.failed = status != PAWL_OK || said->outcome == HANDLED_RETRY || said->outcome == HANDLED_PERMANENT;
    end.error = str_from(said->error);
    observe_batch_end(work->all->config.observer, &seen, &end);
    said->traceparent = (pawl_str){NULL, 0};
    return status;
}

/* More follows: the checkpoint moves, and stays ours. *ours: whether it was. */
static pawl_status move(const struct work *work, const struct checkpoint_grant *grant, int64_t version,
                        bool *ours, pawl_error *err) {
    struct store *store = work->projector->store;
    struct checkpoint_report one = {.stream = grant->stream,
                                    .perspective = grant->perspective,
                                    .version = version,
                                    .token = grant->token,
                                    .status = CHECKPOINT_PROCESSING};
    struct answer_list answers;
    pawl_status status = store->ops->core.checkpoints_report(
        store, &(struct checkpoints_report){work->instance, &one, 1}, work->projector->arena, &answers, err);
    if (status == PAWL_OK)
        *ours = answers.answers[0] == ANSWER_APPLIED || answers.answers[0] == ANSWER_DUPLICATE;
    return status;
}

/* A batch that fails is passed event by event, so that the events before the failing one are kept. */
pawl_status perspective_run_outside(const struct work *work, const struct perspective_row *row,
                                    const struct checkpoint_grant *grant, struct handler_verdict *verdict,
                                    int64_t *version, pawl_error *err) {
    struct store *store = work->projector->store;
    struct checkpoint_ref ref = {grant->stream, grant->perspective, grant->token};
    int limit = row->batch;
    for (bool ours = true; ours && !work_over(work);) {
        struct checkpoint_batch batch;
        struct said said = {.attempt = grant->attempt};
        pawl_status status =
            store->ops->events.checkpoint_events(store, &ref, limit, work->projector->arena, &batch, err);
        if (status == PAWL_OK)
            status = hand_over(work, row, &batch, &said, err);
        if (status != PAWL_OK)
            return status;
        bool failed = said.outcome != HANDLED_DONE && said.outcome != HANDLED_SNOOZE;
        if (failed && work_over(work))
            break; /* it was stopped, not at fault */
        if (failed && batch.list.count > 1) {
            limit = 1;
            continue;
        }
        if (failed)
            perspective_note_failure(work->all, &ref, batch.list.events[0].version, false,
                                     (pawl_str){said.error, strnlen(said.error, 200)});
        if (said.outcome != HANDLED_DONE) {
            verdict->outcome = said.outcome == HANDLED_NOT_RUN ? HANDLED_RETRY : said.outcome;
            verdict->delay_ms = said.retry_after_ms;
            snprintf(verdict->error, sizeof(verdict->error), "%s", said.error);
            return PAWL_OK;
        }
        *version = batch.through;
        perspectives_add(work->all, (struct sums){.events = (int64_t)batch.list.count});
        if (!batch.more) {
            verdict->outcome = HANDLED_DONE;
            return PAWL_OK;
        }
        status = move(work, grant, *version, &ours, err);
        if (status != PAWL_OK)
            return status;
    }
    verdict->outcome = HANDLED_SNOOZE; /* the rest is due now */
    verdict->delay_ms = 0;
    return PAWL_OK;
}
