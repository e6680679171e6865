/* Claiming messages on SQLite: held streams first, then messages, lane by lane. */
#include "store/sqlite/claims/claim.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/str.h"
#include "store/sqlite/claims/claim_end.h"
#include "store/sqlite/claims/keyset.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/fleet/instance.h"
#include "store/sqlite/fleet/lane.h"
#include "store/sqlite/messages/dead.h"
#include "store/sqlite/messages/pause.h"
#include "store/sqlite/messages/put.h"

/* A lane whose oldest claim is this old may be claimed from again. */
enum { BUSY_MS = 1000 };
/* Lanes looked up at a time: the first one often has all that is wanted. */
enum { VISIT_LANES = 8 };
/* After reading this many bytes of payload, a call grants what it has, so that memory is bounded. */
enum { CLAIM_BYTES_MAX = 64 * 1024 * 1024 };

/* One lane on the visit. */
struct visit {
    int lane;
    int64_t token, high;
    bool has_message, has_due_hold, has_claim;
    bool only_suspects; /* they hold up their streams, not the lane */
    int64_t oldest_began_ms;
};

/* One claim call while it runs. */
struct claiming {
    struct operation *op;
    const struct messages_claim *in;
    struct arena *arena;
    struct item *items; /* room for in->max */
    size_t count;       /* granted */
    size_t wanted;      /* still to be read */
    bool paused;        /* a topic or a stream is */
    bool busy,
        early; /* a lane was left out because it is busy; now those are visited, up to what is in flight */
    struct {
        bool known;      /* looked up when the first stream is met that is held */
        bool says_slots; /* a suspect may come with other work */
        bool may_suspect;
        bool has_any, has_other; /* in flight when the call began: anything, of another kind */
        int64_t lost_left;       /* lost messages that it may have */
    } instance;
    size_t bytes;                 /* of payload read */
    struct keyset leased_streams; /* streams that are in flight on the lane being visited */
};

static pawl_status no_memory(struct claiming *c) { return operation_no_memory(c->op); }

/* The items of one grant are at the end of c->items already, sorted by seq. */
static pawl_status grant(struct claiming *c, int lane, size_t first, struct part like) {
    struct operation *op = c->op;
    const struct messages_claim *in = c->in;
    int64_t token = operation_next_token(op);
    struct part *part = part_make(op, token, c->count - first);
    if (part == NULL)
        return no_memory(c);
    part->kind = in->kind;
    part->lane = lane;
    part->instance = in->instance;
    part->source = like.source;
    part->suspect = like.suspect;
    part->lost = like.lost;
    part->policy = in->policy != POLICY_DEFAULT ? in->policy : (enum dead_policy)op->settings.dead_policy;
    part->max_attempts = in->max_attempts != 0 ? in->max_attempts : op->settings.max_attempts;
    part->began_ms = op->now_ms;
    part->lease_until_ms = op->now_ms + in->lease_ms;
    part->request = in->request;
    for (size_t i = first; i < c->count; i++) {
        struct item *item = &c->items[i];
        item->token = token;
        item->lease_until_ms = part->lease_until_ms;
        item->suspect = like.suspect != SUSPECT_NO;
        part->items[i - first].seq = item->seq;
        part->items[i - first].id = item->id;
    }
    return statement_run(SQL(op, SQLITE_Q_LANE_TOKEN, in->kind, lane, token));
}

/* The column after seq and the message. */
static int after_message(void) { return 1 + (int)message_shape.count; }

/* Columns of message_read, aside_read, message_get and aside_get: seq, the message, and for aside its state.
 */
static void read_item(struct statement *s, struct claiming *c, int lane, bool is_aside, struct item *item) {
    *item = (struct item){0};
    row_read(s, 1, &message_shape, c->arena, item);
    item->seq = column_int(s, 0);
    item->kind = c->in->kind;
    item->lane = lane;
    item->attempt = 1;
    if (is_aside) {
        int at = after_message();
        item->deaths = (int)column_int(s, at + 1);
        item->attempt = (int)column_int(s, at) + item->deaths + 1;
        item->out_of_order = column_int(s, at + 2) != 0;
    }
    c->bytes += item->payload.len;
}

static bool is_full(const struct claiming *c) { return c->wanted == 0 || c->bytes >= CLAIM_BYTES_MAX; }

/* The streams that active claims of the lane hold. */
static pawl_status load_leased_streams(struct claiming *c, int lane) {
    struct operation *op = c->op;
    TRY(part_load_lane(op, c->in->kind, lane));
    struct part *part = NULL;
    while ((part = part_next_active(op, part, c->in->kind, lane)) != NULL) {
        TRY(part_load_keys(op, part));
        for (size_t i = 0; i < part->count; i++)
            if (part->items[i].mark == MARK_OPEN &&
                !keyset_add(&c->leased_streams, op->scratch, part->items[i].key))
                return no_memory(c);
    }
    return PAWL_OK;
}

/* What the instance has in flight decides which lost messages it may get. */
static pawl_status know_instance(struct claiming *c) {
    if (c->instance.known)
        return PAWL_OK;
    struct statement s = SQL(c->op, SQLITE_Q_CLAIM_IN_HAND, c->in->instance, c->in->kind);
    if (statement_next(&s)) {
        c->instance.may_suspect = column_int(&s, 0) == 0;
        c->instance.lost_left = PAWL_LOST_TOGETHER_MAX - column_int(&s, 1);
        c->instance.says_slots = column_int(&s, 2) > 0;
        c->instance.has_any = column_int(&s, 3) > 0;
        c->instance.has_other = column_int(&s, 4) > 0;
    }
    c->instance.known = true;
    return statement_end(&s);
}

/* What one lane's held streams give: the granted rows are after c->items[c->count], the suspect apart. */
struct held {
    struct item suspect;
    bool has_suspect;
    size_t picked;
    int lost;          /* of the picked */
    struct keyset ids; /* of the picked */
    struct stopped {
        pawl_str key;
        int64_t seq;
        struct stopped *next;
    } * stopped; /* by a pause */
};

/* A suspect at the head of its stream is granted if no other is running. A worker without slots gets it only
 * alone: a call that meets it with other work of this kind ends there, so that the next call starts with it;
 * if work of another kind is in flight, which this kind cannot end, it is skipped. */
static bool take_suspect(struct claiming *c) {
    const bool says_slots = c->instance.says_slots;
    const bool may = c->instance.may_suspect && (says_slots || !c->instance.has_other);
    const bool take = may && (says_slots || (!c->instance.has_any && c->wanted == (size_t)c->in->max));
    if (may)
        c->wanted = says_slots ? c->wanted - 1 : 0;
    c->instance.may_suspect = false;
    return take;
}

/* Columns of aside_read. Whether a pause stops the row; that is noted, and written once no row is being read.
 */
static pawl_status stop_row(struct claiming *c, struct statement *s, pawl_str key, struct held *held,
                            bool *stops) {
    enum { COLUMN_ID = 2, COLUMN_STREAM, COLUMN_TOPIC, COLUMN_TYPE }; /* without a copy of the payload */
    struct item item = {0};
    *stops = false;
    if (!c->paused)
        return PAWL_OK;
    item.id = column_uuid(s, COLUMN_ID);
    item.stream = column_borrow(s, COLUMN_STREAM);
    item.topic = column_borrow(s, COLUMN_TOPIC);
    item.type = column_borrow(s, COLUMN_TYPE);
    TRY(pause_fits(c->op, &item, stops));
    if (!*stops)
        return PAWL_OK;
    struct stopped *stopped = arena_array(c->op->scratch, 1, sizeof(*stopped));
    if (stopped == NULL)
        return no_memory(c);
    *stopped = (struct stopped){.seq = column_int(s, 0), .next = held->stopped};
    held->stopped = stopped;
    return str_dup(c->op->scratch, key, &stopped->key, c->op->err);
}

/* Messages stopped by a pause wait until it is removed. */
static pawl_status keep_stopped(struct claiming *c, int lane, const struct stopped *stopped) {
    struct aside_back back = {.reason = ASIDE_RELEASED, .scheduled_ms = PAWL_UNTIL_RESUMED_MS};
    for (; stopped != NULL; stopped = stopped->next) {
        TRY(aside_return(c->op, c->in->kind, stopped->seq, back));
        TRY(hold_settle(c->op, c->in->kind, lane, stopped->key, false));
    }
    return PAWL_OK;
}

/* Whether an item is in the set already, which it then is; reports name the token and the id, so an id is
 * granted once per token. */
static pawl_status is_twin(struct claiming *c, struct keyset *ids, const struct item *item, bool *twin) {
    pawl_str id = {(const char *)item->id.b, sizeof item->id.b};
    *twin = keyset_has(ids, id);
    return *twin || keyset_add(ids, c->op->scratch, id) ? PAWL_OK : no_memory(c);
}

/* The rows of one held stream, up to the first that is not due, is paused, is a suspect or has an id that is
 * granted. */
static pawl_status pick_stream(struct claiming *c, int lane, pawl_str key, struct held *held) {
    struct statement s = SQL(c->op, SQLITE_Q_ASIDE_READ, c->in->kind, key, c->wanted);
    bool twin = false;
    pawl_status status = PAWL_OK;
    for (bool head = true; !is_full(c) && statement_next(&s); head = false) {
        int64_t scheduled_ms = column_int(&s, after_message() + 3);
        int64_t losses = column_int(&s, after_message() + 4);
        bool stops = false;
        if (scheduled_ms <= c->op->now_ms)
            status = stop_row(c, &s, key, held, &stops);
        if (stops || status != PAWL_OK)
            break;
        if (losses >= PAWL_SUSPECT_LOSSES && head && take_suspect(c)) {
            read_item(&s, c, lane, true, &held->suspect);
            held->has_suspect = true;
        }
        if (losses >= PAWL_SUSPECT_LOSSES || scheduled_ms > c->op->now_ms ||
            (losses > 0 && c->instance.lost_left <= 0))
            break;
        struct item *item = &c->items[c->count + held->picked];
        read_item(&s, c, lane, true, item);
        status = is_twin(c, &held->ids, item, &twin);
        if (status != PAWL_OK || twin)
            break;
        held->picked++;
        held->lost += losses > 0;
        c->instance.lost_left -= losses > 0;
        c->wanted--;
    }
    return statement_close(&s, status);
}

static int by_seq(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Grants what the held streams gave: the suspect first, alone; then the others as one claim. */
static pawl_status grant_held(struct claiming *c, int lane, const struct held *held) {
    size_t first = c->count;
    if (held->has_suspect) {
        for (size_t i = held->picked; i > 0; i--)
            c->items[first + i] = c->items[first + i - 1];
        c->items[first] = held->suspect;
        c->count++;
        TRY(grant(c, lane, first,
                  (struct part){.source = SOURCE_ASIDE,
                                .suspect = c->instance.says_slots ? SUSPECT_GRANTED : SUSPECT_BEGUN}));
        first++;
    }
    if (held->picked == 0)
        return PAWL_OK;
    c->count += held->picked;
    qsort(&c->items[first], held->picked, sizeof(*c->items), by_seq);
    return grant(c, lane, first, (struct part){.source = SOURCE_ASIDE, .lost = held->lost});
}

/* Streams of the lane that wait, are due and have nothing in flight, in their order. */
static pawl_status claim_held(struct claiming *c, int lane, bool *granted) {
    struct held held = {0};
    pawl_status status = know_instance(c);
    if (status != PAWL_OK)
        return status;
    struct statement s = SQL(c->op, SQLITE_Q_ASIDE_DUE, c->in->kind, lane, c->op->now_ms);
    while (status == PAWL_OK && !is_full(c) && statement_next(&s)) {
        pawl_str key = column_borrow(&s, 0);
        if (!keyset_has(&c->leased_streams, key))
            status = pick_stream(c, lane, key, &held);
    }
    status = statement_close(&s, status);
    if (status == PAWL_OK)
        status = keep_stopped(c, lane, held.stopped);
    if (status == PAWL_OK)
        status = grant_held(c, lane, &held);
    *granted = held.has_suspect || held.picked > 0;
    return status;
}

/* A message that may not run now is set aside until its stream's hold ends. */
static pawl_status put_off(struct claiming *c, const struct item *item, const struct hold *hold) {
    struct operation *op = c->op;
    if (hold != NULL && hold->state == HOLD_PARKED)
        return dead_park_message(op, item->kind, item->lane, item->seq);
    struct aside_new as = {.reason = ASIDE_BEHIND, .scheduled_ms = op->now_ms};
    TRY(aside_take(op, item->kind, item->lane, item->seq, &as));
    if (hold != NULL)
        return PAWL_OK; /* a hold that is there keeps waiting for its first row */
    return hold_settle(op, item->kind, item->lane, item->stream, false);
}

/* A paused message waits until it is resumed, and so does the rest of its stream. */
static pawl_status put_by(struct claiming *c, const struct item *item) {
    struct aside_new as = {.reason = ASIDE_RELEASED, .scheduled_ms = PAWL_UNTIL_RESUMED_MS};
    pawl_str key = item->stream;
    if (str_absent(key))
        key = str_from(arena_printf(c->op->scratch, "\001%" PRId64, item->seq));
    if (str_absent(key))
        return no_memory(c);
    TRY(aside_take(c->op, item->kind, item->lane, item->seq, &as));
    return hold_settle(c->op, item->kind, item->lane, key, false);
}

/* What keeps a message from running. */
struct obstacle {
    struct hold hold;
    bool held, leased, paused;
};

static pawl_status obstacle_of(struct claiming *c, const struct item *item, bool lane_holds,
                               struct obstacle *found) {
    *found = (struct obstacle){.held = false};
    if (!str_absent(item->stream)) {
        if (lane_holds)
            TRY(hold_find(c->op, item->kind, item->stream, &found->hold, &found->held));
        found->leased = keyset_has(&c->leased_streams, item->stream);
    }
    if (c->paused && !found->held && !found->leased)
        TRY(pause_fits(c->op, item, &found->paused));
    return PAWL_OK;
}

/* The new messages of one lane while they are read. */
struct sifting {
    struct keyset ids; /* of those that are kept */
    int64_t high;      /* up to where everything is kept or put off */
    size_t passed;     /* messages that are paused or follow a paused one; they do not count against what is
                          wanted */
    bool stop;         /* the next one has an id that is kept, or may not be passed: from there on they stay
                          unread */
};

/* Keeps the messages that may run, in order, up to the first whose id is kept already; the others are put
 * off. */
static pawl_status sift(struct claiming *c, int lane, size_t read, struct sifting *sifting) {
    struct operation *op = c->op;
    bool lane_holds = false;
    pawl_status status = statement_any(SQL(op, SQLITE_Q_HOLD_ANY, c->in->kind, lane), &lane_holds);
    size_t kept = c->count, end = c->count + read;
    for (size_t i = c->count; i < end && status == PAWL_OK; i++) {
        struct item *item = &c->items[i];
        struct obstacle found;
        status = obstacle_of(c, item, lane_holds, &found);
        if (status == PAWL_OK && c->early && found.leased) {
            c->wanted += end - i;
            sifting->stop = true;
        }
        if (status != PAWL_OK || sifting->stop)
            break;
        if (!found.held && !found.leased && !found.paused) {
            if (kept != i)
                c->items[kept] = *item;
            status = is_twin(c, &sifting->ids, &c->items[kept], &sifting->stop);
            if (sifting->stop) {
                c->wanted += end - i;
                break;
            }
            sifting->high = item->seq;
            kept++;
            continue;
        }
        status = found.paused ? put_by(c, item) : put_off(c, item, found.held ? &found.hold : NULL);
        sifting->passed += found.paused || (found.held && found.hold.due_ms == PAWL_UNTIL_RESUMED_MS);
        lane_holds = true;
        sifting->high = item->seq;
    }
    if (status == PAWL_OK)
        c->count = kept;
    return status;
}

static pawl_status move_cursor(struct claiming *c, int lane, int64_t high) {
    return statement_run(SQL(c->op, SQLITE_Q_LANE_CURSOR, c->in->kind, lane, high));
}

/* The next messages after high; they are put after c->items[c->count]. */
static pawl_status read_messages(struct claiming *c, int lane, int64_t high, size_t *read) {
    struct statement s = SQL(c->op, SQLITE_Q_MESSAGE_READ, c->in->kind, lane, high, c->wanted);
    for (*read = 0; !is_full(c) && statement_next(&s); c->wanted--)
        read_item(&s, c, lane, false, &c->items[c->count + (*read)++]);
    return statement_end(&s);
}

static pawl_status claim_new_messages(struct claiming *c, const struct visit *visit) {
    size_t first = c->count, seen = 0;
    struct sifting sifting = {.high = visit->high};
    bool more = true;
    while (more) {
        size_t read = 0, wanted = c->wanted;
        sifting.passed = 0;
        TRY(read_messages(c, visit->lane, sifting.high, &read));
        if (read > 0)
            TRY(sift(c, visit->lane, read, &sifting));
        c->wanted += sifting.passed;
        seen += read;
        more = sifting.passed > 0 && !sifting.stop && read == wanted && seen < PAWL_SWEEP_MAX;
    }
    if (seen > 0)
        TRY(move_cursor(c, visit->lane, sifting.high));
    if (c->count > first)
        TRY(grant(c, visit->lane, first, (struct part){.source = SOURCE_MESSAGE}));
    return PAWL_OK;
}

static pawl_status visit_lane(struct claiming *c, const struct visit *visit) {
    bool granted = false;
    if (c->in->one_lane && visit->lane != c->in->lane)
        return PAWL_OK;
    bool busy = visit->has_claim && !visit->only_suspects && c->op->now_ms - visit->oldest_began_ms < BUSY_MS;
    c->busy = c->busy || busy;
    if (busy != c->early)
        return PAWL_OK;
    if (!visit->has_message && !visit->has_due_hold)
        return PAWL_OK;
    c->leased_streams = (struct keyset){0};
    if (visit->has_claim)
        TRY(load_leased_streams(c, visit->lane));
    if (visit->has_due_hold)
        TRY(claim_held(c, visit->lane, &granted));
    if (!granted && visit->has_message)
        TRY(claim_new_messages(c, visit));
    return PAWL_OK;
}

/* The next few lanes after a token; those granted by this call have newer ones than until_token. */
static pawl_status read_visits(struct claiming *c, int64_t after_token, int64_t until_token,
                               struct visit visits[static VISIT_LANES], size_t *count) {
    struct statement s = SQL(c->op, SQLITE_Q_LANE_VISIT, c->in->kind, c->in->instance, after_token,
                             until_token, c->op->now_ms, VISIT_LANES);
    *count = 0;
    while (*count < VISIT_LANES && statement_next(&s))
        visits[(*count)++] = (struct visit){
            .lane = (int)column_int(&s, 0),
            .token = column_int(&s, 1),
            .high = column_int(&s, 2),
            .has_message = column_int(&s, 3) != 0,
            .has_due_hold = column_int(&s, 4) != 0,
            .has_claim = !column_is_null(&s, 5),
            .oldest_began_ms = column_int(&s, 5),
            .only_suspects = column_int(&s, 6) != 0,
        };
    return statement_end(&s);
}

/* *lanes = 0 if the instance runs a suspect and does not state its slots: it gets nothing else. */
static pawl_status runs_alone(struct claiming *c, size_t *lanes) {
    bool alone = false;
    TRY(statement_any(SQL(c->op, SQLITE_Q_CLAIM_ALONE, c->in->instance), &alone));
    if (alone)
        *lanes = 0;
    return PAWL_OK;
}

static pawl_status visit_lanes(struct claiming *c, size_t count) {
    int64_t token = -1, until_token = operation_last_token(c->op);
    while (count == VISIT_LANES && !is_full(c)) {
        struct visit visits[VISIT_LANES];
        TRY(read_visits(c, token, until_token, visits, &count));
        for (size_t i = 0; i < count && !is_full(c); i++) {
            TRY(visit_lane(c, &visits[i]));
            token = visits[i].token;
        }
    }
    return PAWL_OK;
}

/* Whether the instance has free slots, and nothing else is there for them. */
static pawl_status may_be_early(struct claiming *c, bool *early) {
    *early = false;
    if (!c->busy || c->paused || c->wanted < (size_t)c->in->max)
        return PAWL_OK;
    return statement_any(SQL(c->op, SQLITE_Q_CLAIM_SLOTS_FREE, c->in->instance), early);
}

pawl_status claim_messages(struct operation *op, const struct messages_claim *in, struct arena *arena,
                           struct item_list *out) {
    int64_t freed = 0;
    if (in->kind == KIND_OUTBOX)
        TRY(intake_drain(op));
    if (!in->one_lane)
        TRY(ending_overdue_own(op, in->kind, in->instance));
    if (!in->one_lane)
        TRY(lane_free_drained(op, in->kind, in->instance, &freed));
    struct claiming c = {.op = op, .in = in, .arena = arena, .wanted = (size_t)in->max};
    c.items = arena_array(arena, c.wanted, sizeof(*c.items));
    if (c.items == NULL)
        return no_memory(&c);
    size_t count = VISIT_LANES;
    TRY(runs_alone(&c, &count));
    TRY(pause_any(op, &c.paused));
    TRY(visit_lanes(&c, count));
    TRY(may_be_early(&c, &c.early));
    if (c.early)
        TRY(visit_lanes(&c, count));
    TRY(parts_flush(op));
    *out = (struct item_list){c.items, c.count};
    return PAWL_OK;
}

/* The row of an item of a part, read again. */
static pawl_status read_again(struct claiming *c, const struct part *part, const struct part_item *from,
                              struct item *item) {
    bool is_aside = part->source == SOURCE_ASIDE;
    struct statement s = is_aside ? SQL(c->op, SQLITE_Q_ASIDE_GET, part->kind, from->seq)
                                  : SQL(c->op, SQLITE_Q_MESSAGE_GET, part->kind, part->lane, from->seq);
    if (statement_next(&s))
        read_item(&s, c, part->lane, is_aside, item);
    item->token = part->token;
    item->lease_until_ms = part->lease_until_ms;
    item->suspect = part->suspect != SUSPECT_NO;
    return statement_end(&s);
}

static int by_token_and_seq(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    if (x->token != y->token)
        return x->token < y->token ? -1 : 1;
    return by_seq(a, b);
}

pawl_status claim_again(struct operation *op, const struct messages_claim *in, struct arena *arena,
                        struct item_list *out) {
    struct claiming c = {.op = op, .in = in, .arena = arena};
    size_t open = 0;
    TRY(part_load_request(op, in));
    for (struct part *part = op->parts; part != NULL; part = part->next)
        open += part->open;
    c.items = arena_array(arena, open, sizeof(*c.items));
    if (c.items == NULL)
        return no_memory(&c);
    for (struct part *part = op->parts; part != NULL; part = part->next)
        for (size_t i = 0; i < part->count; i++)
            if (part->items[i].mark == MARK_OPEN)
                TRY(read_again(&c, part, &part->items[i], &c.items[c.count++]));
    if (c.count > 0)
        qsort(c.items, c.count, sizeof(*c.items), by_token_and_seq);
    *out = (struct item_list){c.items, c.count};
    return parts_flush(op);
}

/* Whether the lane that is named belongs to the instance. */
static pawl_status owns(struct operation *op, const struct messages_claim *in, bool *yes) {
    return statement_any(SQL(op, SQLITE_Q_LANE_OWNED, in->kind, in->lane, in->instance), yes);
}

pawl_status sqlite_messages_claim(struct store *store, const struct messages_claim *in, struct arena *arena,
                                  struct item_list *out, pawl_error *err) {
    struct operation op = operation_write(store, "messages_claim", check_claim(in, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    struct item_list list = {0};
    bool used = false, visits = true;
    pawl_status status = instance_must_be_live(&op, in->instance);
    if (status == PAWL_OK && in->one_lane)
        status = owns(&op, in, &visits);
    if (status == PAWL_OK && visits)
        status = request_use(&op, in->request, &used);
    if (status == PAWL_OK && visits)
        status = used ? claim_again(&op, in, arena, &list) : claim_messages(&op, in, arena, &list);
    return operation_give(&op, status, out, &list);
}
