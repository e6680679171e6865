/* What the core says happened, as log events. */
#include <inttypes.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "engine/runtime/runtime.h"

enum { BATCH_LOG_MS = 100 }; /* a busy worker writes one line for the batches of this time */

static void log_state(struct runtime *runtime, const struct engine_action *action) {
    enum engine_state from = (enum engine_state)action->numbers[0];
    enum engine_state to = (enum engine_state)action->numbers[1];
    bool routine = to != ENGINE_ERROR && from != ENGINE_ERROR && to != ENGINE_STOPPING &&
                   to != ENGINE_STOPPED;
    log_event(&runtime->config.log, routine ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO, "worker_state",
              "from=%s to=%s", engine_state_name(from), engine_state_name(to));
}

/* Claimed, completed, failed; summed up when batches follow each other closely. */
static void log_batch(struct runtime *runtime, const struct engine_action *action) {
    for (int i = 0; i < 3; i++)
        runtime->batch_sums[i] += action->numbers[i];
    runtime->batch_sums[3]++;
    runtime_log_flush(runtime, clock_boot_ms());
}

void runtime_log_flush(struct runtime *runtime, int64_t now_ms) {
    const int64_t *sums = runtime->batch_sums;
    if (sums[3] == 0 || now_ms < runtime->logged_ms + BATCH_LOG_MS)
        return;
    bool empty = sums[0] == 0 && sums[1] == 0 && sums[2] == 0;
    log_event(&runtime->config.log, empty ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO, "batch",
              "claimed=%" PRId64 " completed=%" PRId64 " failed=%" PRId64 " batches=%" PRId64, sums[0],
              sums[1], sums[2], sums[3]);
    runtime->logged_ms = now_ms;
    for (int i = 0; i < 4; i++)
        runtime->batch_sums[i] = 0;
}

static void log_problem(struct runtime *runtime, const struct engine_action *action, const char *event) {
    log_event(&runtime->config.log, LOG_LEVEL_WARN, event, "status=%s error=%.*s",
              pawl_status_name((pawl_status)action->numbers[0]), STR_ARG(action->text));
}

static void log_life(struct runtime *runtime, const struct engine_action *action) {
    struct log *log = &runtime->config.log;
    const int64_t *n = action->numbers;
    char id[UUID_TEXT_BYTES];
    switch (action->log) {
    case LOG_START_SKIPPED:
        log_event(log, LOG_LEVEL_WARN, "start_skipped", "reason=%s",
                  "the database is not ready; what waits is taken when it is");
        break;
    case LOG_NOT_READY:
        log_event(log, LOG_LEVEL_INFO, "database_not_ready", "checks=%" PRId64, n[0]);
        break;
    case LOG_PAUSED:
        log_event(log, LOG_LEVEL_WARN, "worker_paused", "checks=%" PRId64 " reason=%s", n[0],
                  "the database has failed several checks in a row");
        break;
    case LOG_READY_AGAIN:
        log_event(log, LOG_LEVEL_INFO, "database_ready", "after_checks=%" PRId64, n[0]);
        break;
    case LOG_REGISTERED:
        log_event(log, LOG_LEVEL_INFO, "registered",
                  "instance=%s lease_ms=%" PRId64 " registrations=%" PRId64,
                  uuid_format(engine_metrics(runtime->core).instance, id), n[1], n[0]);
        break;
    case LOG_EVICTED:
        log_event(
            log, LOG_LEVEL_WARN, "evicted", "times=%" PRId64 " reason=%s", n[0],
            "other workers have taken over this worker's work; it drops everything and registers again");
        break;
    case LOG_FENCED:
        log_event(log, LOG_LEVEL_WARN, "fenced", "messages=%" PRId64 " reason=%s", n[0],
                  n[1] != 0   ? "no heartbeat got through"
                  : n[2] != 0 ? "the claim has ended"
                              : "the lease ends");
        break;
    case LOG_SETTLED:
        log_event(log, LOG_LEVEL_WARN, "grants_settled", "%s=%" PRId64 " reason=%s",
                  n[1] == CHANNEL_JOBS           ? "jobs"
                  : n[1] == CHANNEL_PERSPECTIVES ? "checkpoints"
                                                 : "messages",
                  n[0], "the store had granted them to this worker, which did not know; they are free again");
        break;
    case LOG_EPOCH:
        log_event(log, LOG_LEVEL_ERROR, "epoch_raised", "from=%" PRId64 " to=%" PRId64 " reason=%s", n[0],
                  n[1],
                  "the database was promoted, restored or has gone back; work that was acknowledged may be "
                  "lost, pawl doctor says more");
        break;
    case LOG_PEER_EVICTED:
        log_event(log, LOG_LEVEL_INFO, "peer_evicted", "count=%" PRId64, n[0]);
        break;
    case LOG_STOPPING:
        log_event(log, LOG_LEVEL_INFO, "stopping", "running=%" PRId64 " drain_ms=%" PRId64, n[0], n[1]);
        break;
    case LOG_STOPPED:
        log_event(log, LOG_LEVEL_INFO, "stopped", "completed=%" PRId64 " failed=%" PRId64 " forced=%s", n[0],
                  n[1], n[2] != 0 ? "true" : "false");
        break;
    default:
        break;
    }
}

void runtime_log(struct runtime *runtime, const struct engine_action *action) {
    struct log *log = &runtime->config.log;
    const int64_t *n = action->numbers;
    char id[UUID_TEXT_BYTES];
    switch (action->log) {
    case LOG_STATE:
        log_state(runtime, action);
        break;
    case LOG_BATCH:
        log_batch(runtime, action);
        break;
    case LOG_BATCH_FAILED:
        log_problem(runtime, action, "batch_failed");
        break;
    case LOG_REGISTER_FAILED:
        log_problem(runtime, action, "register_failed");
        break;
    case LOG_BEAT_FAILED:
        log_problem(runtime, action, "heartbeat_failed");
        break;
    case LOG_STALE:
        log_event(log, LOG_LEVEL_WARN, "stale", "seq=%" PRId64 " token=%" PRId64 " answer=%" PRId64, n[0],
                  n[1], n[2]);
        break;
    case LOG_ORDER_CONFLICT:
        log_event(log, LOG_LEVEL_WARN, "order_conflict", "seq=%" PRId64 " token=%" PRId64, n[0], n[1]);
        break;
    case LOG_NO_HANDLER:
        log_event(log, LOG_LEVEL_WARN, "no_handler", "type=%.*s back_in_ms=%" PRId64, STR_ARG(action->text),
                  n[0]);
        break;
    case LOG_DEAD:
        log_event(log, LOG_LEVEL_WARN, "dead_letter", "seq=%" PRId64 " id=%s type=%.*s", n[0],
                  uuid_format(action->id, id), STR_ARG(action->text));
        break;
    case LOG_CANCELLED:
        log_event(log, LOG_LEVEL_WARN, "handler_cancelled", "seq=%" PRId64 " id=%s type=%.*s", n[0],
                  uuid_format(action->id, id), STR_ARG(action->text));
        break;
    case LOG_TIMEOUT:
        log_event(log, LOG_LEVEL_WARN, "handler_timeout", "handler=%s after_ms=%" PRId64,
                  runtime->config.handlers->handlers[n[0]].name, n[1]);
        break;
    case LOG_REFUSED:
        log_event(log, LOG_LEVEL_ERROR, "batch_refused", "times=%" PRId64 " status=%s", n[0],
                  pawl_status_name((pawl_status)n[1]));
        break;
    default:
        log_life(runtime, action);
        break;
    }
}
