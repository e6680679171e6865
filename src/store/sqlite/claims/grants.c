/* Settling grants on PostgreSQL: giving back what a holder does not know of. */
#include "store/sqlite/operations.h"

#include "base/uuid.h"
#include "store/sqlite/claims/report.h"
#include "store/sqlite/events/perspective_count.h"
#include "store/sqlite/fleet/instance.h"
#include "store/sqlite/jobs/jobs.h"

/* One call while it runs; held is a sorted copy. */
struct settling {
    struct operation *op;
    const struct grants_settle *in;
    struct grant_held *held;
    struct grants_settled out;
};

static bool is_lost(const struct settling *s, int64_t token, int64_t number) {
    return token <= s->in->settled && !grants_has(s->held, s->in->count, (struct grant_held){token, number});
}

static pawl_status tokens_of(struct settling *s, enum sqlite_query query, struct id_list *tokens) {
    return jobs_ids(SQL(s->op, query, s->in->instance), s->op->scratch, tokens);
}

/* The highest token that is left. */
static pawl_status newest(struct settling *s, enum sqlite_query query) {
    struct id_list left = {0};
    TRY(tokens_of(s, query, &left));
    for (size_t i = 0; i < left.count; i++)
        s->out.newest = left.ids[i] > s->out.newest ? left.ids[i] : s->out.newest;
    return PAWL_OK;
}

/* What is lost of one kind, of the parts that are loaded. */
static pawl_status release_kind(struct settling *s, enum store_kind kind) {
    struct release_item *items = NULL;
    struct answer_list answers = {0};
    size_t count = 0, cap = 0;
    pawl_status status = PAWL_OK;
    for (struct part *part = s->op->parts; part != NULL; part = part->next) {
        if (part->kind != kind || part->state != CLAIM_ACTIVE || !uuid_equal(part->instance, s->in->instance))
            continue;
        for (size_t i = 0; i < part->count && status == PAWL_OK; i++) {
            const struct part_item *item = &part->items[i];
            if (item->mark != MARK_OPEN || !is_lost(s, part->token, item->seq))
                continue;
            status = list_grow(s->op, s->op->scratch, (void **)&items, &cap, count, sizeof(*items));
            if (status == PAWL_OK)
                items[count++] = (struct release_item){.ref = {part->token, item->id}};
        }
    }
    if (status != PAWL_OK || count == 0)
        return status;
    status = items_release(s->op, &(struct messages_release){s->in->instance, kind, items, count},
                           s->op->scratch, &answers);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        s->out.released += answers.answers[i] == ANSWER_APPLIED;
    return status;
}

static pawl_status settle_messages(struct settling *s) {
    struct id_list tokens = {0};
    TRY(tokens_of(s, SQLITE_Q_CLAIM_OF_INSTANCE, &tokens));
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        struct part *first = NULL;
        for (size_t i = 0; i < tokens.count; i++)
            if (tokens.ids[i] <= s->in->settled)
                TRY(part_load_token(s->op, tokens.ids[i], &first));
        TRY(release_kind(s, (enum store_kind)kind));
        TRY(parts_flush(s->op));
    }
    return newest(s, SQLITE_Q_CLAIM_OF_INSTANCE);
}

static pawl_status release_jobs(struct settling *s, struct jobs_call *call, int64_t token) {
    struct id_list ids = {0};
    TRY(jobs_ids(SQL(s->op, SQLITE_Q_JOB_LIST_TOKEN, token), s->op->scratch, &ids));
    for (size_t i = 0; i < ids.count; i++) {
        enum store_answer answer = ANSWER_STALE;
        if (!is_lost(s, token, ids.ids[i]))
            continue;
        struct finish_item item = {.ref = {token, ids.ids[i]}, .outcome = JOB_RELEASE};
        TRY(jobs_report_one(call, &item, &answer));
        s->out.released += answer == ANSWER_APPLIED;
    }
    return PAWL_OK;
}

static pawl_status settle_jobs(struct settling *s) {
    struct id_list tokens = {0};
    struct jobs_call call;
    pawl_status status = tokens_of(s, SQLITE_Q_JOB_CLAIM_OF_INSTANCE, &tokens);
    if (status == PAWL_OK)
        status = jobs_begin(&call, s->op, s->in->instance);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < tokens.count && status == PAWL_OK; i++)
        if (tokens.ids[i] <= s->in->settled)
            status = release_jobs(s, &call, tokens.ids[i]);
    status = jobs_end(&call, status);
    return status != PAWL_OK ? status : newest(s, SQLITE_Q_JOB_CLAIM_OF_INSTANCE);
}

static pawl_status settle_checkpoints(struct settling *s) {
    struct id_list tokens = {0};
    TRY(tokens_of(s, SQLITE_Q_CHECKPOINT_OF_INSTANCE, &tokens));
    for (size_t i = 0; i < tokens.count; i++) {
        int64_t changed = 0;
        if (!is_lost(s, tokens.ids[i], 0))
            continue;
        TRY(statement_run_count(
            SQL(s->op, SQLITE_Q_CHECKPOINT_LOST, s->in->instance, tokens.ids[i], s->op->now_ms), &changed));
        s->out.released += changed;
    }
    if (s->out.released > 0)
        TRY(perspective_count_again(s->op, (pawl_str){NULL, 0}));
    return newest(s, SQLITE_Q_CHECKPOINT_OF_INSTANCE);
}

static pawl_status settle(struct settling *s) {
    const struct grants_settle *in = s->in;
    struct instance_brief brief;
    int64_t raise = 0;
    TRY(instance_must_be_active(s->op, in->instance, &brief));
    TRY(check_seen(in->seen, s->op->settings.epoch, operation_last_token(s->op), &raise, s->op->err));
    if (raise > 0)
        TRY(operation_raise_epoch(s->op, raise, EPOCH_WENT_BACK));
    s->held = arena_array(s->op->scratch, in->count, sizeof(*s->held));
    if (s->held == NULL)
        return operation_no_memory(s->op);
    for (size_t i = 0; i < in->count; i++)
        s->held[i] =
            (struct grant_held){in->held[i].token, in->side == GRANTS_CHECKPOINTS ? 0 : in->held[i].number};
    grants_sort(s->held, in->count);
    s->out.epoch = s->op->settings.epoch;
    if (in->side == GRANTS_MESSAGES)
        return settle_messages(s);
    return in->side == GRANTS_JOBS ? settle_jobs(s) : settle_checkpoints(s);
}

pawl_status sqlite_grants_settle(struct store *store, const struct grants_settle *in,
                                 struct grants_settled *out, pawl_error *err) {
    struct operation op = operation_write(store, "grants_settle", check_settle(in, err), err);
    struct settling s = {.op = &op, .in = in};
    pawl_status status = operation_end(&op, settle(&s));
    if (status == PAWL_OK)
        *out = s.out;
    return status;
}
