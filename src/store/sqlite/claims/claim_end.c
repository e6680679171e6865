/* Ending claims without a report on SQLite: expired, evicted, released. */
#include "store/sqlite/claims/claim_end.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/uuid.h"
#include "store/sqlite/claims/report.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/fleet/instance.h"
#include "store/sqlite/jobs/jobs.h"
#include "store/sqlite/messages/dead.h"

struct part_ref {
    int64_t token;
    int part, lane;
};

struct part_refs {
    struct part_ref *refs;
    size_t count;
};

LOCAL_SHAPE(ref, struct part_ref, M(token), M(part), M(lane));

/* The rows of claim_overdue or claim_of_instance, in their order. */
static pawl_status read_refs(struct statement s, struct part_refs *refs) {
    struct row_list list = {NULL, 0};
    TRY(rows_read(s, &ref_shape, s.op->scratch, &list));
    *refs = (struct part_refs){list.rows, list.count};
    return PAWL_OK;
}

static pawl_status load_part(struct operation *op, const struct part_ref *ref, struct part **part) {
    TRY(part_load_token(op, ref->token, part));
    while (*part != NULL && (*part)->part != ref->part)
        *part = part_next_of(*part);
    if (*part == NULL)
        return error_set(op->err, PAWL_INTERNAL, op->name, "a claim vanished inside its transaction");
    return PAWL_OK;
}

/* How far into an instance's items handlers may have started: they start in the order of the grant. */
struct edge {
    struct edge *next;
    pawl_uuid instance;
    int64_t token, seq;
};

static int grant_compare(const void *a, const void *b) {
    const struct edge *x = a, *y = b;
    if (x->token != y->token)
        return x->token < y->token ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static pawl_status refs_of_instance(struct operation *op, pawl_uuid instance, struct part_refs *refs) {
    return read_refs(SQL(op, SQLITE_Q_CLAIM_OF_INSTANCE, instance), refs);
}

/* How many open items the parts have; written to items when there is room. */
static pawl_status open_items(struct operation *op, const struct part_refs *refs, struct edge *items,
                              size_t *count) {
    *count = 0;
    for (size_t n = 0; n < refs->count; n++) {
        struct part *part = NULL;
        TRY(load_part(op, &refs->refs[n], &part));
        if (part->suspect != SUSPECT_NO)
            continue;
        for (size_t i = 0; i < part->count; i++) {
            if (part->items[i].mark != MARK_OPEN)
                continue;
            if (items != NULL)
                items[*count] = (struct edge){.token = part->token, .seq = part->items[i].seq};
            *count += 1;
        }
    }
    return PAWL_OK;
}

/* Before the first claim of the instance ends; later ones find what was found then. */
static pawl_status edge_find(struct operation *op, pawl_uuid instance, struct edge **edges,
                             const struct edge **found) {
    for (struct edge *edge = *edges; edge != NULL; edge = edge->next) {
        *found = edge;
        if (uuid_equal(edge->instance, instance))
            return PAWL_OK;
    }
    struct part_refs refs = {NULL, 0};
    struct instance_brief brief = {0};
    bool known = false;
    size_t count = 0;
    TRY(instance_read(op, instance, &brief, &known));
    TRY(refs_of_instance(op, instance, &refs));
    TRY(open_items(op, &refs, NULL, &count));
    struct edge *edge = arena_alloc(op->scratch, sizeof(*edge));
    struct edge *items = arena_array(op->scratch, count + 1, sizeof(*items));
    if (edge == NULL || items == NULL)
        return operation_no_memory(op);
    TRY(open_items(op, &refs, items, &count));
    size_t slots = known && brief.slots > 0 ? (size_t)brief.slots : 1;
    *edge = (struct edge){0};
    if (count > 0) {
        qsort(items, count, sizeof(*items), grant_compare);
        *edge = items[(slots < count ? slots : count) - 1];
    }
    edge->instance = instance;
    edge->next = *edges;
    *edges = edge;
    *found = edge;
    return PAWL_OK;
}

/* A suspect that had started is charged with its worker's death, and becomes a dead letter at the limit. */
static pawl_status judge(struct operation *op, const struct part *part, const struct stream_ref *stream) {
    struct statement s = SQL(op, SQLITE_Q_ASIDE_STATE, stream->kind, stream->seq);
    int64_t ended = 0;
    pawl_str error = {NULL, 0};
    if (statement_next(&s)) {
        ended = column_int(&s, 0) + column_int(&s, 1);
        error = column_copy(&s, 2, op->scratch);
    }
    pawl_status status = statement_end(&s);
    if (status != PAWL_OK || ended < part->max_attempts)
        return status != PAWL_OK ? status : hold_settle(op, stream->kind, stream->lane, stream->key, false);
    struct death death = {.stream = *stream,
                          .source = SOURCE_ASIDE,
                          .reason = DEAD_KILLED,
                          .policy = part->policy,
                          .error = error};
    return dead_bury(op, &death);
}

/* Items that are lost together. */
struct lost {
    struct stream_ref *streams;
    size_t count;
};

/* The open items of a part that follow `behind` (NULL: all of them) are lost and leave it. Only a suspect
 * that had started is charged; items that may have started become suspects, and so do items lost again. */
static pawl_status lose_items(struct operation *op, struct part *part, const struct stream_ref *behind,
                              const struct edge *edge, struct lost *lost) {
    TRY(part_load_keys(op, part));
    for (size_t i = 0; i < part->count; i++) {
        struct part_item *item = &part->items[i];
        const struct edge at = {.token = part->token, .seq = item->seq};
        struct aside_back back = {
            .reason = ASIDE_EXPIRED, .deaths = part->suspect == SUSPECT_BEGUN, .scheduled_ms = op->now_ms};
        if (item->mark != MARK_OPEN || (behind != NULL && !stream_follows(behind, item)))
            continue;
        if (part->suspect == SUSPECT_NO)
            back.losses = grant_compare(&at, edge) <= 0 ? PAWL_SUSPECT_LOSSES : 1;
        lost->streams[lost->count++] = stream_of(part, item);
        part_mark(part, item, MARK_LEFT);
        TRY(part_give_back(op, part, item, back));
        if (back.deaths > 0)
            TRY(attempt_note(op, part, item, true));
    }
    return PAWL_OK;
}

/* Successors in other parts of the token were held by the same worker, and are treated the same way. */
static pawl_status lose_part(struct operation *op, struct part *part, enum claim_state state,
                             const struct edge *edge) {
    struct part *first = NULL;
    size_t open = 0;
    TRY(part_load_token(op, part->token, &first));
    for (struct part *one = first; one != NULL; one = part_next_of(one))
        open += one->open;
    struct lost lost = {arena_array(op->scratch, open, sizeof(*lost.streams)), 0};
    if (lost.streams == NULL)
        return operation_no_memory(op);
    part->state = state;
    part->dirty = true;
    TRY(lose_items(op, part, NULL, edge, &lost));
    const size_t own = lost.count;
    for (struct part *other = first; other != NULL; other = part_next_of(other)) {
        for (size_t i = 0; i < own && other->state == CLAIM_ACTIVE; i++) {
            const struct stream_ref stream = lost.streams[i];
            TRY(lose_items(op, other, &stream, edge, &lost));
        }
    }
    for (size_t i = 0; i < lost.count; i++) {
        const struct stream_ref *stream = &lost.streams[i];
        TRY(part->suspect == SUSPECT_BEGUN ? judge(op, part, stream)
                                           : hold_settle(op, stream->kind, stream->lane, stream->key, false));
    }
    return PAWL_OK;
}

static pawl_status lose_refs(struct operation *op, const struct part_refs *refs, enum claim_state state,
                             int64_t *ended) {
    struct edge *edges = NULL;
    for (size_t i = 0; i < refs->count; i++) {
        struct part *part = NULL;
        const struct edge *edge = NULL;
        TRY(load_part(op, &refs->refs[i], &part));
        if (part->state != CLAIM_ACTIVE)
            continue; /* an earlier one took its last items away */
        TRY(edge_find(op, part->instance, &edges, &edge));
        TRY(lose_part(op, part, state, edge));
        *ended += 1;
    }
    return parts_flush(op);
}

pawl_status ending_overdue_own(struct operation *op, enum store_kind kind, pawl_uuid caller) {
    struct part_refs refs = {NULL, 0};
    int64_t ended = 0;
    pawl_status status = read_refs(SQL(op, SQLITE_Q_CLAIM_OVERDUE_OWN, kind, op->now_ms, caller), &refs);
    return status != PAWL_OK || refs.count == 0 ? status : lose_refs(op, &refs, CLAIM_EXPIRED, &ended);
}

pawl_status ending_overdue(struct operation *op, enum store_kind kind, pawl_uuid caller, int64_t *ended) {
    struct part_refs refs = {NULL, 0};
    TRY(read_refs(SQL(op, SQLITE_Q_CLAIM_OVERDUE, kind, op->now_ms), &refs));
    if (refs.count == 0)
        return PAWL_OK;
    for (size_t i = 0; i < refs.count; i++)
        TRY(statement_run(SQL(op, SQLITE_Q_LANE_LOSE_OWNER, kind, refs.refs[i].lane, caller)));
    return lose_refs(op, &refs, CLAIM_EXPIRED, ended);
}

pawl_status ending_evicted(struct operation *op, pawl_uuid instance) {
    struct part_refs refs = {NULL, 0};
    int64_t ended = 0;
    TRY(refs_of_instance(op, instance, &refs));
    TRY(lose_refs(op, &refs, CLAIM_EVICTED, &ended));
    return jobs_instance_end(op, instance, false);
}

static pawl_status release_part(struct operation *op, struct part *part) {
    TRY(part_load_keys(op, part));
    for (size_t i = 0; i < part->count; i++) {
        struct part_item *item = &part->items[i];
        if (item->mark != MARK_OPEN)
            continue;
        part_mark(part, item, MARK_LEFT);
        TRY(part_give_back(op, part, item,
                           (struct aside_back){.reason = ASIDE_RELEASED, .scheduled_ms = op->now_ms}));
        TRY(hold_settle(op, part->kind, part->lane, item->key, false));
    }
    return PAWL_OK;
}

pawl_status ending_released(struct operation *op, pawl_uuid instance) {
    struct part_refs refs = {NULL, 0};
    TRY(refs_of_instance(op, instance, &refs));
    for (size_t i = 0; i < refs.count; i++) {
        struct part *part = NULL;
        TRY(load_part(op, &refs.refs[i], &part));
        TRY(release_part(op, part));
    }
    TRY(parts_flush(op));
    return jobs_instance_end(op, instance, true);
}
