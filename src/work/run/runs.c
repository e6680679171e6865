/* Starting, showing and changing runs: functions of the public API. */
#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "domain/run/gauge.h"
#include "pawl_run.h"
#include "work/run/start.h"
#include "work/send.h"

pawl_status pawl_run_start(pawl_store *store, const pawl_run_config *config, pawl_run_started *started,
                           pawl_error *err) {
    struct arena *arena = arena_create(0);
    struct run_doc doc = {0};
    struct run_begun begun = {0};
    struct run_begin in = {.doc = &doc, .key = config->key, .traceparent = config->traceparent};
    if (arena == NULL)
        return error_no_memory(err, "pawl_run_start");
    pawl_status status = run_doc_parse(arena, config->document, config->yaml, &doc, err);
    if (status == PAWL_OK && !str_absent(config->params))
        status = tree_parse(arena, config->params, NULL, &in.params, err);
    if (status == PAWL_OK && in.params != NULL && in.params->kind != TREE_OBJECT)
        status = error_set(err, PAWL_INVALID, "pawl_run_start", "params must be an object");
    if (status == PAWL_OK)
        status = run_begin(send_store(store), &in, arena, &begun, err);
    if (status == PAWL_OK && started != NULL) {
        *started = (pawl_run_started){.again = begun.again, .run = begun.run};
        snprintf(started->key, sizeof(started->key), "%.*s", STR_ARG(begun.key));
    }
    arena_free(arena);
    return status;
}

static void fill_status(const struct run_row *run, int64_t now_ms, pawl_run_status *out) {
    struct run_gauge_in in = {.parts = run->partitions,
                              /* An ended run shows how far it got, not 100 %. */
                              .parts_ended = run->done + (run->ended_ms > 0 ? 0 : run->failed),
                              .items = run->items,
                              .items_total = run->total,
                              .elapsed_ms = (run->ended_ms > 0 ? run->ended_ms : now_ms) - run->started_ms,
                              .ended = run->ended_ms > 0};
    struct run_gauge gauge = run_gauge(&in);
    *out = (pawl_run_status){.run = run->id,
                             .state = (pawl_run_state)run->state,
                             .paused = run->paused,
                             .partitions = run->partitions,
                             .remaining = run->remaining,
                             .done = run->done,
                             .failed = run->failed,
                             .items = run->items,
                             .pages = run->pages,
                             .total = run->total,
                             .permille = gauge.permille,
                             .per_1000s = gauge.per_1000s,
                             .eta_ms = gauge.eta_ms,
                             .started_ms = run->started_ms,
                             .ended_ms = run->ended_ms};
    snprintf(out->error, sizeof(out->error), "%.*s", STR_ARG(run->error));
}

pawl_status pawl_run_show(pawl_store *store, int64_t run, pawl_str key, pawl_run_status *out,
                          pawl_error *err) {
    struct store *inner = send_store(store);
    struct arena *arena = arena_create(0);
    struct runs_filter filter = {.id = run, .key = run == 0 ? key : (pawl_str){NULL, 0}, .limit = 1};
    struct run_list found = {0};
    if (arena == NULL)
        return error_no_memory(err, "pawl_run_show");
    pawl_status status = inner->ops->runs->runs(inner, &filter, arena, &found, err);
    if (status == PAWL_OK && (found.count == 0 || (run == 0 && str_absent(key))))
        status = error_set(err, PAWL_NOT_FOUND, "pawl_run_show", "there is no such run");
    if (status == PAWL_OK)
        fill_status(&found.runs[0], found.now_ms, out);
    arena_free(arena);
    return status;
}

pawl_status pawl_run_change(pawl_store *store, int64_t run, pawl_run_action action, pawl_error *err) {
    struct store *inner = send_store(store);
    const struct store_runs_ops *ops = inner->ops->runs;
    enum store_answer answer = ANSWER_INVALID;
    struct run_retry retry = {run, -1};
    struct run_retried retried = {0};
    pawl_status status = PAWL_OK;
    switch (action) {
    case PAWL_RUN_PAUSE:
    case PAWL_RUN_RESUME:
        status = ops->pause(inner, run, action == PAWL_RUN_PAUSE, &answer, err);
        break;
    case PAWL_RUN_CANCEL:
        status = ops->cancel(inner, run, &answer, err);
        break;
    case PAWL_RUN_RETRY:
        status = ops->retry(inner, &retry, &retried, err);
        answer = retried.answer;
        break;
    default:
        return error_set(err, PAWL_INVALID, "pawl_run_change", "there is no action %d", (int)action);
    }
    if (status == PAWL_OK && answer == ANSWER_NOT_FOUND)
        status = error_set(err, PAWL_NOT_FOUND, "pawl_run_change", "there is no run %lld", (long long)run);
    if (status == PAWL_OK && answer == ANSWER_CONFLICT)
        status = error_set(err, PAWL_CONFLICT, "pawl_run_change",
                           "the run %lld has ended, or there is nothing to do", (long long)run);
    return status;
}
