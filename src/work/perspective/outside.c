/* Perspectives that are programs or endpoints: at least once, each event with the key stream:version. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "handler/program_end.h"
#include "handler/webhook.h"
#include "process/program.h"
#include "store/apply.h"
#include "work/perspective/int.h"

enum { KEY_BYTES = PAWL_STREAM_BYTES_MAX + 32, PAIRS = 5 };

struct said {
    bool done;
    pawl_str traceparent;   /* what is passed to the program or endpoint */
    int64_t retry_after_ms; /* 0 = by the backoff */
    int attempt;            /* from 1 */
    char error[512];
};

/* A call may not outlast its lease. */
static int64_t call_deadline(const struct work *work) {
    const struct perspectives_config *config = &work->all->config;
    int64_t ms = config->timeout_ms > 0 ? config->timeout_ms : HANDLER_TIMEOUT_MS_DEFAULT;
    int64_t lease_ms = config->lease_ms / 4 * 3;
    return clock_boot_ms() + (ms < lease_ms ? ms : lease_ms);
}

/* The idempotency key of a call: that of its last event. */
static char *batch_key(const struct checkpoint_batch *batch, char key[static KEY_BYTES]) {
    const pawl_stored_event *last = &batch->list.events[batch->list.count - 1];
    snprintf(key, KEY_BYTES, "%.*s:%lld", STR_ARG(last->stream), (long long)last->version);
    return key;
}

static pawl_status run_program(const struct work *work, const struct perspective_row *row, pawl_str body,
                               const struct checkpoint_batch *batch, struct said *said, pawl_error *err) {
    char key[KEY_BYTES], name[sizeof(((struct note *)0)->perspective)], attempt[16];
    char **argv = NULL;
    struct process_end end;
    struct buf output;
    struct environment_pair pairs[PAIRS] = {{"PAWL_PERSPECTIVE", name},
                                            {"PAWL_IDEMPOTENCY_KEY", batch_key(batch, key)},
                                            {"PAWL_ATTEMPT", attempt}};
    size_t pair_count = 3;
    snprintf(attempt, sizeof(attempt), "%d", said->attempt);
    if (batch->list.events[batch->list.count - 1].replay)
        pairs[pair_count++] = (struct environment_pair){"PAWL_REPLAY", "1"};
    if (!str_absent(said->traceparent))
        pairs[pair_count++] = (struct environment_pair){"TRACEPARENT", said->traceparent.ptr};
    snprintf(name, sizeof(name), "%.*s", STR_ARG(row->key));
    pawl_status status = command_split(work->projector->arena, row->target, &argv, err);
    if (status == PAWL_OK)
        status = program_find(work->projector->arena, argv[0], &argv[0], err);
    if (status == PAWL_NOT_FOUND || status == PAWL_INVALID) {
        int64_t wait_ms = start_failed(launcher_failures(work->all->launcher), argv != NULL ? argv[0] : name,
                                       status, err->text);
        perspective_hold(work->all, row->key, wait_ms);
    }
    if (status != PAWL_OK)
        return err->status = PAWL_UNAVAILABLE;
    struct process_spec spec = {.argv = argv,
                                .pairs = pairs,
                                .pair_count = pair_count,
                                .input = body,
                                .out_kept = PROCESS_STDOUT_KEPT};
    struct stop_limit limits = {call_deadline(work), work->cancel};
    buf_init(&output, 0);
    status = process_run(work->all->launcher, &spec, &limits, &output, &end, err);
    if (status == PAWL_OK) {
        struct program_verdict verdict = program_judge(&end, buf_str(&output), work->all->config.timeout_ms);
        said->done = verdict.outcome == HANDLED_DONE;
        said->retry_after_ms = verdict.delay_ms > 0 ? verdict.delay_ms : 0;
        snprintf(said->error, sizeof(said->error), "%.511s", verdict.error);
    } else {
        perspective_hold(work->all, row->key, end.wait_ms);
    }
    buf_free(&output);
    return status == PAWL_OK ? PAWL_OK : PAWL_UNAVAILABLE;
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
    said->done = status == PAWL_OK && http_judge(response.status) == HTTP_DONE;
    if (status != PAWL_OK)
        snprintf(said->error, sizeof(said->error), "%s", inner.text);
    else if (!said->done)
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
        said->done = true;
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
    end.failed = status != PAWL_OK || !said->done;
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
        if (!said.done && work_over(work))
            break; /* it was stopped, not at fault */
        if (!said.done && batch.list.count > 1) {
            limit = 1;
            continue;
        }
        if (!said.done) {
            perspective_note_failure(work->all, &ref, batch.list.events[0].version, false,
                                     (pawl_str){said.error, strnlen(said.error, 200)});
            verdict->outcome = HANDLED_RETRY;
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
    verdict->delay_ms = 0; /* the rest is due now */
    return PAWL_OK;
}
