/* How claims end without a report: expired, evicted, released. */
#include "store/sqlite/ending.h"

#include <stdlib.h>

#include "base/error.h"
#include "store/sqlite/dead.h"
#include "store/sqlite/jobs.h"
#include "store/sqlite/keyset.h"

struct part_ref {
    struct part_ref *next;
    int64_t token;
    int part, lane;
};

/* The rows of claim_overdue or claim_of_instance, in their order. */
static pawl_status read_refs(struct operation *op, struct statement *s, struct part_ref **refs) {
    struct part_ref **tail = refs;
    while (statement_next(s)) {
        struct part_ref *ref = arena_alloc(op->scratch, sizeof(*ref));
        if (ref == NULL) {
            s->rc = SQLITE_NOMEM;
            break;
        }
        *ref = (struct part_ref){NULL, column_int(s, 0), (int)column_int(s, 1), (int)column_int(s, 2)};
        *tail = ref;
        tail = &ref->next;
    }
    return statement_end(s);
}

static pawl_status load_part(struct operation *op, const struct part_ref *ref, struct part **part) {
    pawl_status status = part_load_token(op, ref->token, part);
    while (status == PAWL_OK && *part != NULL && (*part)->part != ref->part)
        *part = part_next_of(*part);
    if (status == PAWL_OK && *part == NULL)
        status = error_set(op->err, PAWL_INTERNAL, op->name, "a claim vanished inside its transaction");
    return status;
}

/* An unfinished item of a part that ends comes back as a row of aside. */
static pawl_status take_back(struct operation *op, const struct part *part, int64_t seq, int deaths,
                             enum aside_reason reason) {
    if (part->source == SOURCE_ASIDE)
        return aside_return(op, part->kind, seq, deaths, reason);
    struct aside_new as = {.deaths = deaths, .reason = reason, .scheduled_ms = op->now_ms};
    return aside_take(op, part->kind, part->lane, seq, &as);
}

/* How often a row of aside failed; *found false when it has been parked meanwhile. */
struct aside_count {
    int attempts, deaths;
    pawl_str error;
};

static pawl_status count_row(struct operation *op, const struct stream_ref *stream, struct aside_count *count,
                             bool *found) {
    struct statement s = statement_begin(op, SQLITE_Q_ASIDE_STATE);
    bind_int(&s, stream->kind);
    bind_int(&s, stream->seq);
    bool row = statement_next(&s);
    if (row)
        *count = (struct aside_count){(int)column_int(&s, 0), (int)column_int(&s, 1),
                                      column_copy(&s, 2, op->scratch)};
    pawl_status status = statement_end(&s);
    if (status == PAWL_OK)
        *found = row;
    return status;
}

/* An item that got its death: it dies of it, or waits. */
static pawl_status judge(struct operation *op, const struct part *part, const struct stream_ref *stream,
                         struct keyset *blocked) {
    struct aside_count count;
    bool found = false;
    pawl_status status = count_row(op, stream, &count, &found);
    if (status != PAWL_OK || !found || keyset_has(blocked, stream->key))
        return status;
    if (count.attempts + count.deaths < part->max_attempts)
        return hold_settle(op, stream->kind, stream->lane, stream->key, false);
    if (part->policy == POLICY_BLOCK && !keyset_add(blocked, op->scratch, stream->key))
        return operation_no_memory(op);
    struct death death = {.stream = *stream,
                          .source = SOURCE_ASIDE,
                          .reason = DEAD_KILLED,
                          .policy = part->policy,
                          .error = count.error};
    return dead_bury(op, &death);
}

/* Items that get their death together. */
struct killed {
    struct stream_ref *streams;
    size_t count;
};

/* The open items of a part that follow `behind` (NULL: all of them) get their death and leave it. */
static pawl_status kill_items(struct operation *op, struct part *part, const struct stream_ref *behind,
                              struct killed *killed) {
    pawl_status status = part_load_keys(op, part);
    for (size_t i = 0; i < part->count && status == PAWL_OK; i++) {
        struct part_item *item = &part->items[i];
        if (item->mark != MARK_OPEN || (behind != NULL && !stream_follows(behind, item)))
            continue;
        killed->streams[killed->count++] = stream_of(part, item);
        part_mark(part, item, MARK_LEFT);
        status = take_back(op, part, item->seq, 1, ASIDE_EXPIRED);
    }
    return status;
}

/* Successors in other parts of the token were in the same hands, and go the same way; but behind a death
 * under skip a stream goes on. */
static pawl_status kill_followers(struct operation *op, struct part *first, const struct part *part,
                                  struct killed *killed) {
    const size_t own = killed->count;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < own && status == PAWL_OK; i++) {
        const struct stream_ref stream = killed->streams[i];
        struct aside_count count = {0};
        bool found = false;
        status = count_row(op, &stream, &count, &found);
        if (part->policy == POLICY_SKIP && count.attempts + count.deaths >= part->max_attempts)
            continue;
        for (struct part *other = first; other != NULL && status == PAWL_OK; other = part_next_of(other)) {
            if (other->state == CLAIM_ACTIVE)
                status = kill_items(op, other, &stream, killed);
        }
    }
    return status;
}

static int seq_compare(const void *a, const void *b) {
    const struct stream_ref *x = a, *y = b;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Every unfinished item gets a death first; then they are judged in order. */
static pawl_status kill_part(struct operation *op, struct part *part, enum claim_state state) {
    struct part *first = NULL;
    struct keyset blocked = {0};
    size_t open = 0, others = 0;
    pawl_status status = part_load_token(op, part->token, &first);
    for (struct part *one = first; one != NULL && status == PAWL_OK; one = part_next_of(one)) {
        open += one->open;
        others += one != part && one->state == CLAIM_ACTIVE;
    }
    struct killed killed = {arena_array(op->scratch, open, sizeof(*killed.streams)), 0};
    if (status == PAWL_OK && killed.streams == NULL)
        return operation_no_memory(op);
    part->state = state;
    part->dirty = true;
    if (status == PAWL_OK)
        status = kill_items(op, part, NULL, &killed);
    if (status == PAWL_OK && others > 0)
        status = kill_followers(op, first, part, &killed);
    if (status == PAWL_OK && killed.count > 0)
        qsort(killed.streams, killed.count, sizeof(*killed.streams), seq_compare);
    for (size_t i = 0; i < killed.count && status == PAWL_OK; i++)
        status = judge(op, part, &killed.streams[i], &blocked);
    return status;
}

static pawl_status kill_refs(struct operation *op, const struct part_ref *refs, enum claim_state state,
                             int64_t *ended) {
    pawl_status status = PAWL_OK;
    for (const struct part_ref *ref = refs; ref != NULL && status == PAWL_OK; ref = ref->next) {
        struct part *part = NULL;
        status = load_part(op, ref, &part);
        if (status != PAWL_OK || part->state != CLAIM_ACTIVE)
            continue; /* an earlier one took its last items away */
        status = kill_part(op, part, state);
        *ended += 1;
    }
    return status != PAWL_OK ? status : parts_flush(op);
}

pawl_status ending_overdue_own(struct operation *op, enum store_kind kind, pawl_uuid caller) {
    struct part_ref *refs = NULL;
    int64_t ended = 0;
    struct statement s = statement_begin(op, SQLITE_Q_CLAIM_OVERDUE_OWN);
    bind_int(&s, kind);
    bind_int(&s, op->now_ms);
    bind_uuid(&s, caller);
    pawl_status status = read_refs(op, &s, &refs);
    return status != PAWL_OK || refs == NULL ? status : kill_refs(op, refs, CLAIM_EXPIRED, &ended);
}

pawl_status ending_overdue(struct operation *op, enum store_kind kind, pawl_uuid caller, int64_t *ended) {
    struct part_ref *refs = NULL;
    struct statement s = statement_begin(op, SQLITE_Q_CLAIM_OVERDUE);
    bind_int(&s, kind);
    bind_int(&s, op->now_ms);
    pawl_status status = read_refs(op, &s, &refs);
    if (status != PAWL_OK || refs == NULL)
        return status;
    for (const struct part_ref *ref = refs; ref != NULL && status == PAWL_OK; ref = ref->next) {
        s = statement_begin(op, SQLITE_Q_LANE_LOSE_OWNER);
        bind_int(&s, kind);
        bind_int(&s, ref->lane);
        bind_uuid(&s, caller);
        status = statement_run(&s);
    }
    return status != PAWL_OK ? status : kill_refs(op, refs, CLAIM_EXPIRED, ended);
}

static pawl_status refs_of_instance(struct operation *op, pawl_uuid instance, struct part_ref **refs) {
    struct statement s = statement_begin(op, SQLITE_Q_CLAIM_OF_INSTANCE);
    bind_uuid(&s, instance);
    return read_refs(op, &s, refs);
}

pawl_status ending_evicted(struct operation *op, pawl_uuid instance) {
    struct part_ref *refs = NULL;
    int64_t ended = 0;
    pawl_status status = refs_of_instance(op, instance, &refs);
    if (status == PAWL_OK)
        status = kill_refs(op, refs, CLAIM_EVICTED, &ended);
    return status != PAWL_OK ? status : jobs_instance_end(op, instance, false);
}

static pawl_status release_part(struct operation *op, struct part *part) {
    pawl_status status = part_load_keys(op, part);
    for (size_t i = 0; i < part->count && status == PAWL_OK; i++) {
        struct part_item *item = &part->items[i];
        if (item->mark != MARK_OPEN)
            continue;
        part_mark(part, item, MARK_LEFT);
        status = take_back(op, part, item->seq, 0, ASIDE_RELEASED);
        if (status == PAWL_OK)
            status = hold_settle(op, part->kind, part->lane, item->key, false);
    }
    return status;
}

pawl_status ending_released(struct operation *op, pawl_uuid instance) {
    struct part_ref *refs = NULL;
    pawl_status status = refs_of_instance(op, instance, &refs);
    for (const struct part_ref *ref = refs; ref != NULL && status == PAWL_OK; ref = ref->next) {
        struct part *part = NULL;
        status = load_part(op, ref, &part);
        if (status == PAWL_OK)
            status = release_part(op, part);
    }
    if (status == PAWL_OK)
        status = parts_flush(op);
    return status != PAWL_OK ? status : jobs_instance_end(op, instance, true);
}
