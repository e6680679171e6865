/* Failing and releasing messages on SQLite. */
#include "base/str.h"
#include "base/uuid.h"
#include "domain/failure/retry.h"
#include "store/relay.h"
#include "store/sqlite/claims/report.h"
#include "store/sqlite/messages/dead.h"
#include "store/sqlite/messages/pause.h"

/* A held item and how often it failed so far. */
struct held_item {
    struct part *part;
    struct part_item *item;
    struct stream_ref stream;
    int attempts, deaths;
};

/* The item that a reference names; held->part NULL when it is not held (then *answer says why). Keys are
 * loaded.
 */
static pawl_status find_held(struct operation *op, const struct reporter *by, const struct item_ref *ref,
                             struct held_item *held, enum store_answer *answer) {
    TRY(report_find_held(op, by, ref, &held->part, &held->item));
    if (held->part == NULL)
        return report_unheld(op, by, ref, answer);
    TRY(part_load_keys(op, held->part));
    held->stream = stream_of(held->part, held->item);
    *answer = ANSWER_APPLIED;
    if (held->part->source == SOURCE_MESSAGE)
        return PAWL_OK;
    struct statement s = SQL(op, SQLITE_Q_ASIDE_STATE, held->part->kind, held->item->seq);
    if (statement_next(&s)) {
        held->attempts = (int)column_int(&s, 0);
        held->deaths = (int)column_int(&s, 1);
    }
    return statement_end(&s);
}

/* The row after a failure: aside, with the attempt counted. */
static pawl_status write_failed(struct operation *op, const struct held_item *held, int64_t scheduled_ms,
                                pawl_str error) {
    const struct part *part = held->part;
    if (part->source == SOURCE_MESSAGE) {
        struct aside_new as = {
            .attempts = held->attempts, .reason = ASIDE_FAILED, .scheduled_ms = scheduled_ms, .error = error};
        return aside_take(op, part->kind, part->lane, held->item->seq, &as);
    }
    return statement_run(SQL(op, SQLITE_Q_ASIDE_FAIL, part->kind, held->item->seq, held->attempts,
                             ASIDE_FAILED, scheduled_ms, error));
}

/* The error of a cancelled message: who cancelled it, and why. */
static pawl_status cancel_text(struct operation *op, pawl_uuid message, pawl_str *error) {
    char id[UUID_TEXT_BYTES];
    struct statement s = SQL(op, SQLITE_Q_PAUSE_FIND, PAUSE_MESSAGE, str_from(uuid_format(message, id)));
    if (statement_next(&s))
        *error = pause_error_text(op->scratch, column_borrow(&s, 0), column_borrow(&s, 1));
    return statement_end(&s);
}

static pawl_status die(struct operation *op, const struct held_item *held, const struct fail_item *in,
                       pawl_str error) {
    struct death death = {
        .stream = held->stream,
        .source = held->part->source,
        .reason = in->error_class == CLASS_PERMANENT   ? DEAD_PERMANENT
                  : in->error_class == CLASS_CANCELLED ? DEAD_CANCELLED
                                                       : DEAD_ATTEMPTS,
        .policy = in->policy != POLICY_DEFAULT ? in->policy : held->part->policy,
        .attempts = held->attempts,
        .error = error,
    };
    if (death.source == SOURCE_ASIDE) /* the dead letter is made from the row */
        TRY(write_failed(op, held, op->now_ms, error));
    return dead_bury(op, &death);
}

static pawl_status backoff_ms(struct operation *op, const struct fail_item *in, int attempt,
                              int64_t *delay_ms) {
    *delay_ms = in->delay_ms;
    if (in->delay_ms >= 0)
        return PAWL_OK;
    uint64_t random = 0;
    struct retry_policy policy = retry_policy_default();
    TRY(random_bytes(&random, sizeof(random), op->err));
    *delay_ms = retry_wait_ms(&policy, attempt, random);
    return PAWL_OK;
}

static pawl_status fail_held(struct operation *op, struct held_item *held, const struct fail_item *in,
                             enum fail_outcome *outcome) {
    pawl_str error = {NULL, 0};
    int64_t delay_ms = 0;
    int max_attempts = in->max_attempts != 0 ? in->max_attempts : held->part->max_attempts;
    TRY(store_error_text(op->scratch, in->error, in->stack, &error, op->err));
    if (in->error_class == CLASS_CANCELLED)
        TRY(cancel_text(op, in->ref.id, &error));
    held->attempts++;
    part_mark(held->part, held->item, MARK_DONE);
    if (in->error_class != CLASS_RETRYABLE || held->attempts + held->deaths >= max_attempts) {
        *outcome = FAIL_DEAD;
        return die(op, held, in, error);
    }
    *outcome = FAIL_RETRY;
    TRY(backoff_ms(op, in, held->attempts + held->deaths, &delay_ms));
    TRY(write_failed(op, held, op->now_ms + delay_ms, error));
    TRY(aside_put_followers_behind(op, &held->stream));
    return hold_settle(op, held->stream.kind, held->stream.lane, held->stream.key, false);
}

pawl_status attempt_note(struct operation *op, const struct part *part, const struct part_item *item,
                         bool lost) {
    TRY(statement_run(SQL(op, SQLITE_Q_ATTEMPT_NOTE, part->kind, item->seq, part->instance, part->began_ms,
                          op->now_ms, lost)));
    return statement_run(SQL(op, SQLITE_Q_ATTEMPT_TRIM, item->id));
}

pawl_status items_fail(struct operation *op, const struct messages_fail *in, struct arena *arena,
                       struct answer_list *out) {
    struct reporter by = {in->instance, in->kind};
    TRY(report_answers(op, arena, in->count, true, out));
    if (in->count == 0)
        return PAWL_OK;
    for (size_t i = 0; i < in->count; i++) {
        struct held_item held = {0};
        out->outcomes[i] = FAIL_NONE;
        TRY(find_held(op, &by, &in->items[i].ref, &held, &out->answers[i]));
        if (held.part == NULL)
            continue;
        TRY(fail_held(op, &held, &in->items[i], &out->outcomes[i]));
        TRY(attempt_note(op, held.part, held.item, false));
        op->tally[in->kind].failed++;
    }
    return parts_flush(op);
}

/* Later items of the stream under the same token are released with it. */
static pawl_status release_followers(struct operation *op, const struct held_item *held) {
    struct part *part = NULL;
    TRY(part_load_token(op, held->part->token, &part));
    for (; part != NULL; part = part_next_of(part)) {
        if (part->state != CLAIM_ACTIVE)
            continue;
        TRY(part_load_keys(op, part));
        for (size_t i = 0; i < part->count; i++) {
            if (!stream_follows(&held->stream, &part->items[i]))
                continue;
            part_mark(part, &part->items[i], MARK_LEFT);
            TRY(part_give_back(op, part, &part->items[i],
                               (struct aside_back){.reason = ASIDE_RELEASED, .scheduled_ms = op->now_ms}));
        }
    }
    return PAWL_OK;
}

pawl_status items_release(struct operation *op, const struct messages_release *in, struct arena *arena,
                          struct answer_list *out) {
    struct reporter by = {in->instance, in->kind};
    TRY(report_answers(op, arena, in->count, false, out));
    if (in->count == 0)
        return PAWL_OK;
    for (size_t i = 0; i < in->count; i++) {
        struct held_item held = {0};
        TRY(find_held(op, &by, &in->items[i].ref, &held, &out->answers[i]));
        if (held.part == NULL)
            continue;
        part_mark(held.part, held.item, MARK_DONE);
        struct aside_back back = {.reason = ASIDE_RELEASED};
        TRY(pause_until(op, &in->items[i], &back.scheduled_ms));
        TRY(part_give_back(op, held.part, held.item, back));
        TRY(release_followers(op, &held));
        TRY(hold_settle(op, in->kind, held.part->lane, held.stream.key, false));
    }
    return parts_flush(op);
}
