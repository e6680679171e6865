/* Results: kept until the store has acknowledged them, one by one. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "domain/failure/retry.h"
#include "engine/core/int.h"

void core_list_push(struct engine_core *core, struct entry_list *list, struct entry *entry) {
    if (!core_grow(core, (void **)&list->items, &list->capacity, list->count + 1, sizeof(struct entry *)))
        return;
    list->items[list->count++] = entry;
}

static void pend(struct engine_core *core, struct entry *entry, enum report_type type) {
    core_entry_state(entry, ENTRY_PENDING);
    struct claim *claim = entry->claim;
    if (type == REPORT_COMPLETE && claim->pending_since_ms == 0)
        claim->pending_since_ms = core->now_ms;
    /* A little while for company; a little longer for the rest of its claim. */
    bool waits = type == REPORT_COMPLETE && claim->open > 0;
    int64_t due_ms = waits ? claim->pending_since_ms + ENGINE_HOLD_MS : core->now_ms + ENGINE_LINGER_MS;
    if (core->pending_count == 0 || due_ms < core->report_due_ms)
        core->report_due_ms = due_ms;
    if (core->pending_count++ == 0)
        core->pending_since_ms = core->now_ms;
    core_list_push(core, &core->pending[type][entry->item->kind], entry);
}

/* Outbox messages are published, everything else is completed. */
int core_report_status(enum store_kind kind) {
    enum { PUBLISHED = 2, COMPLETED = 4 };
    return kind == KIND_OUTBOX ? PUBLISHED : COMPLETED;
}

/* One that ends before a handler was found for it goes by the worker's rules. */
const struct engine_handler *core_rules(const struct engine_core *core, const struct entry *entry) {
    static const struct engine_handler none;
    return entry->handler < (int)core->config.handler_count ? &core->config.handlers[entry->handler] : &none;
}

/* It has ended: the request to cancel it is removed. */
static void asked_ended(struct engine_core *core, const struct entry *entry) {
    struct engine_action *action = entry->asked ? core_act(core, ACTION_CANCEL_END) : NULL;
    if (action != NULL)
        action->id = entry->item->id;
}

struct fail_item core_report_fail_item(const struct engine_core *core, const struct entry *entry) {
    const struct engine_handler *rules = core_rules(core, entry);
    return (struct fail_item){
        .ref = {entry->item->token, entry->item->id},
        .error = {entry->error != NULL ? entry->error : "", entry->error_len},
        .error_class = entry->asked       ? CLASS_CANCELLED
                       : entry->permanent ? CLASS_PERMANENT
                                          : CLASS_RETRYABLE,
        .delay_ms = entry->delay_ms,
        .policy = rules->policy,
        .max_attempts = rules->max_attempts,
    };
}

/* Instant strategy: nothing waits; the result goes out alone, without a beat or a claim. */
static void send_alone(struct engine_core *core, struct entry *entry, bool failed) {
    if (!core_grow(core, (void **)&core->reports, &core->report_capacity, core->report_count + 1,
                   sizeof(*core->reports)))
        return;
    uint32_t number = ++core->report_number;
    core->reports[core->report_count++] = (struct report_open){number, entry, failed, false};
    core_entry_state(entry, ENTRY_SENDING);
    struct engine_action *action = core_act(core, ACTION_REPORT);
    if (action == NULL)
        return;
    action->report = (struct engine_report){.number = number, .kind = entry->item->kind, .failed = failed};
    if (failed)
        action->report.fail = core_report_fail_item(core, entry);
    else
        action->report.complete = (struct complete_item){{entry->item->token, entry->item->id},
                                                         core_report_status(entry->item->kind)};
}

void core_report_done(struct engine_core *core, struct entry *entry) {
    if (core->config.strategy.type == STRATEGY_INSTANT)
        send_alone(core, entry, false);
    else
        pend(core, entry, REPORT_COMPLETE);
}

/* As the handler asked, by its own backoff, or (-1) by the store's. */
int64_t core_report_retry_ms(struct engine_core *core, const struct entry *entry, int64_t asked_ms) {
    const struct engine_handler *rules = core_rules(core, entry);
    if (asked_ms >= 0)
        return asked_ms < PAWL_RETRY_MS_MAX ? asked_ms : PAWL_RETRY_MS_MAX;
    if (rules->retry_base_ms <= 0)
        return -1;
    struct retry_policy policy = {rules->retry_base_ms, rules->retry_max_ms, !rules->retry_exact};
    int64_t delay_ms =
        retry_delay_ms(&policy, entry->job != NULL ? entry->job->attempts : entry->item->attempt);
    return policy.jitter ? core_jitter(core, delay_ms) : delay_ms;
}

/* Why it failed, kept until it is reported. */
void core_report_error(struct engine_core *core, struct entry *entry, pawl_str error) {
    size_t len = error.len < PAWL_ERROR_BYTES_MAX ? error.len : PAWL_ERROR_BYTES_MAX;
    entry->error = malloc(len + 1);
    if (entry->error == NULL) {
        core->out_of_memory = true;
        return;
    }
    if (len > 0)
        memcpy(entry->error, error.ptr, len);
    entry->error[len] = '\0';
    entry->error_len = len;
}

void core_report_failed(struct engine_core *core, struct entry *entry, const struct engine_outcome *outcome) {
    core_report_error(core, entry, outcome->error);
    if (entry->error == NULL)
        return;
    entry->permanent = outcome->type == OUTCOME_PERMANENT;
    entry->delay_ms = core_report_retry_ms(core, entry, outcome->delay_ms);
    core->retry_watch_until_ms = core->now_ms + PAWL_RETRY_MAX_MS_DEFAULT + core->config.poll_ms;
    if (core->config.strategy.type == STRATEGY_INSTANT)
        send_alone(core, entry, true);
    else
        pend(core, entry, REPORT_FAIL);
}

void core_report_release(struct engine_core *core, struct entry *entry, int64_t delay_ms) {
    entry->delay_ms = delay_ms;
    if (entry->job != NULL) {
        entry->extra->result = (struct job_result_in){.end = JOB_END_NOT_RUN, .delay_ms = delay_ms};
        core_jobs_pend(core, entry);
        return;
    }
    if (entry->checkpoint != NULL) {
        entry->delay_ms = 0; /* only failures wait */
        core_perspectives_pend(core, entry, CHECKPOINT_PENDING);
        return;
    }
    core->retry_watch_until_ms = core->now_ms + PAWL_RETRY_MAX_MS_DEFAULT + core->config.poll_ms;
    pend(core, entry, REPORT_RELEASE);
}

static void complete_answered(struct engine_core *core, struct entry *entry, enum store_answer answer) {
    if (answer == ANSWER_APPLIED || answer == ANSWER_DUPLICATE) {
        core->metrics.completed++;
        asked_ended(core, entry);
    } else if (answer == ANSWER_CONFLICT && !entry->dropped) {
        /* An earlier message of the stream is unfinished: this one has to run again, after it, and the store
         * sets it aside together with what follows it. */
        core_log(core, LOG_ORDER_CONFLICT, entry->item->seq, entry->item->token, 0);
        core_report_release(core, entry, 0);
        struct stream *stream = core_stream_get(core, entry->item->kind, entry->item->stream);
        if (stream != NULL)
            core_stream_fence(core, stream, entry->item->token);
        return;
    } else {
        core->metrics.stale++;
        core_log(core, LOG_STALE, entry->item->seq, entry->item->token, answer);
    }
    core_entry_free(core, entry);
}

/* What becomes of the rest of the stream, now that the store has said what became of the message. */
static void fail_answered(struct engine_core *core, struct entry *entry, enum store_answer answer,
                          enum fail_outcome fate) {
    struct stream *stream = entry->stream;
    const int64_t token = entry->item->token;
    enum dead_policy policy = core_rules(core, entry)->policy;
    if (policy == POLICY_DEFAULT)
        policy = core->config.policy != POLICY_DEFAULT ? core->config.policy : core->schema_policy;
    bool applied = answer == ANSWER_APPLIED;
    if (applied)
        core->metrics.failed++;
    if (applied || answer == ANSWER_DUPLICATE)
        asked_ended(core, entry);
    if (applied && fate == FAIL_DEAD) {
        core->metrics.dead++;
        core_log_item(core, LOG_DEAD, entry->item);
    }
    if (!applied && answer != ANSWER_DUPLICATE) {
        core->metrics.stale++;
        core_log(core, LOG_STALE, entry->item->seq, entry->item->token, answer);
    }
    core_entry_free(core, entry);
    if (stream == NULL)
        return;
    stream->awaiting = false;
    if (applied && fate == FAIL_DEAD && policy == POLICY_SKIP) {
        core_stream_ready(core, stream);
        return;
    }
    /* When the answer does not say, the rest goes back: at worst the store answers that it has it already. */
    if (answer == ANSWER_DUPLICATE && stream->head != NULL && stream->head->item->token == token)
        core_stream_release_waiting(core, stream, 0);
    else
        core_stream_drop_waiting(core, stream, token);
    core_stream_ready(core, stream);
}

static void answer_one(struct engine_core *core, enum report_type type, struct entry *entry,
                       const struct answer_list *list, size_t at) {
    enum store_answer answer = at < list->count ? list->answers[at] : ANSWER_STALE;
    enum fail_outcome fate = at < list->count && list->outcomes != NULL ? list->outcomes[at] : FAIL_NONE;
    switch (type) {
    case REPORT_COMPLETE:
        complete_answered(core, entry, answer);
        break;
    case REPORT_FAIL:
        fail_answered(core, entry, answer, fate);
        break;
    default:
        core->metrics.released += answer == ANSWER_APPLIED;
        core_entry_free(core, entry);
        break;
    }
}

/* Exactly what was sent is cleared; what came in meanwhile is still pending. */
void core_report_answers(struct engine_core *core, const struct work_batch_result *result) {
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        const struct answer_list *answers[REPORT_TYPE_COUNT] = {
            &result->completed[kind], &result->failed[kind], &result->released[kind]};
        for (enum report_type type = 0; type < REPORT_TYPE_COUNT; type++) {
            struct entry_list *list = &core->sending[type][kind];
            size_t count = list->count;
            list->count = 0;
            for (size_t i = 0; i < count; i++)
                answer_one(core, type, list->items[i], answers[type], i);
        }
    }
}

static bool same_stream(const struct entry *a, const struct entry *b) {
    return a->item->kind == b->item->kind && !str_absent(a->item->stream) &&
           str_equal(a->item->stream, b->item->stream);
}

/* Whether another result of the entry's stream is on its way in a call of its own. */
static bool report_ahead(const struct engine_core *core, const struct report_open *report) {
    for (size_t i = 0; i < core->report_count; i++) {
        const struct report_open *other = &core->reports[i];
        if (other->number != report->number && !other->held && other->entry != NULL &&
            same_stream(other->entry, report->entry))
            return true;
    }
    return false;
}

static void report_remove(struct engine_core *core, size_t at) {
    memmove(&core->reports[at], &core->reports[at + 1],
            (core->report_count - at - 1) * sizeof(*core->reports));
    core->report_count--;
}

/* Nothing of the streams whose results wait is on its way any more: they travel with the next batch, in
 * order. */
static void reports_unhold(struct engine_core *core) {
    for (size_t i = 0; i < core->report_count;) {
        struct report_open report = core->reports[i];
        if (!report.held || report_ahead(core, &report)) {
            i++;
            continue;
        }
        report_remove(core, i);
        pend(core, report.entry, REPORT_COMPLETE);
    }
}

void core_report_answer(struct engine_core *core, const struct engine_event *event) {
    size_t at = 0;
    while (at < core->report_count && core->reports[at].number != event->report)
        at++;
    if (at == core->report_count)
        return;
    struct report_open report = core->reports[at];
    struct entry *entry = report.entry;
    enum report_type type = report.failed ? REPORT_FAIL : REPORT_COMPLETE;
    bool answered = event->status == PAWL_OK;
    bool conflict = answered && type == REPORT_COMPLETE && event->answers[0] == ANSWER_CONFLICT;
    /* Whether it overtook an earlier result of its stream or got lost: it goes after that one. */
    bool again = conflict || (!answered && type == REPORT_COMPLETE);
    if (again && entry != NULL && report_ahead(core, &report)) {
        core->reports[at].held = true;
        return;
    }
    report_remove(core, at);
    if (entry == NULL)
        return; /* dropped meanwhile */
    /* No answer, or an earlier one of the stream is with a batch: it travels with the next batch instead. */
    if (!answered || conflict) {
        pend(core, entry, type);
    } else {
        struct answer_list list = {(enum store_answer *)event->answers, (enum fail_outcome *)event->fails, 1};
        answer_one(core, type, entry, &list, 0);
    }
    reports_unhold(core);
}

/* The first of what waits to be reported go out. */
void core_list_send(struct engine_core *core, struct entry_list *pending, size_t count,
                    struct entry_list *sending) {
    for (size_t i = 0; i < count; i++) {
        core_entry_state(pending->items[i], ENTRY_SENDING);
        core_list_push(core, sending, pending->items[i]);
    }
    pending->count -= count;
    for (size_t i = 0; i < pending->count; i++)
        pending->items[i] = pending->items[i + count];
}

void core_list_drop(struct engine_core *core, struct entry_list *list) {
    size_t count = list->count;
    list->count = 0;
    for (size_t i = 0; i < count; i++)
        core_entry_free(core, list->items[i]);
}

/* Results of grants that are over. What is on its way stays until its call has come back. */
void core_report_forget(struct engine_core *core) {
    bool in_flight = core->cycle == CYCLE_BATCH;
    for (enum report_type type = 0; type < REPORT_TYPE_COUNT; type++) {
        for (int kind = 1; kind <= KIND_COUNT; kind++) {
            core_list_drop(core, &core->pending[type][kind]);
            if (!in_flight)
                core_list_drop(core, &core->sending[type][kind]);
        }
    }
    core->pending_count = 0;
    core->held_count = 0;
    core->batch_void = in_flight;
    if (!in_flight)
        core_lease_unpin(core);
    core->resend = false;
    for (size_t i = core->report_count; i-- > 0;) {
        if (core->reports[i].entry != NULL)
            core_entry_free(core, core->reports[i].entry);
        core->reports[i].entry = NULL;
        if (core->reports[i].held)
            report_remove(core, i); /* no answer will come for it */
    }
}

static bool nothing_to_wait_for(const struct engine_core *core) {
    return core->busy_messages == 0 && core->waiting[CHANNEL_MESSAGES] == 0;
}

/* Whether the results that wait should go out before the next poll is due. */
bool core_report_due(struct engine_core *core) {
    if (core->pending_count == 0)
        return false;
    int64_t age_ms = core->now_ms - core->pending_since_ms;
    if (core->stopping || core->config.strategy.type == STRATEGY_INSTANT)
        return true;
    if (core->config.strategy.type == STRATEGY_CUSTOM)
        return core->config.strategy.flush(core->config.strategy.self, core->pending_count, age_ms);
    size_t fresh = core->pending_count - core->held_count;
    return core->now_ms >= core->report_due_ms || fresh * 2 >= (size_t)core->config.batch ||
           nothing_to_wait_for(core);
}

int64_t core_report_due_ms(const struct engine_core *core) {
    if (core->pending_count == 0)
        return INT64_MAX;
    if (core->config.strategy.type == STRATEGY_CUSTOM)
        return core->now_ms + ENGINE_LINGER_MS; /* its clock is ours: ask again soon */
    return core->report_due_ms;
}
