/* The same random life of events and perspectives on SQLite and on PostgreSQL: appends with right and
 * wrong versions, registrations, grants that expire, failures, skips, rebuilds and switches; the same
 * answers, the same state. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "conformance/differential/pair.h"
#include "support/check.h"

enum {
    STREAMS = 7,
    NAMES = 4,
    VERSIONS = 3,
    TYPES = 6,
    HELD = 24,
    EVENTS_MAX = 4,
    GRANTS_MAX = 4,
    BROKEN = 17
};

static const char *const types[TYPES] = {"Shop.OrderCreated", "Shop.OrderPaid", "Stock.Counted",
                                         "OrderCreated",      "order.shipped",  "Stock.Moved"};

/* A checkpoint as both sides granted it. */
struct held {
    int64_t token[PAIR_SIDES], version, head;
    char stream[16], key[24];
    pawl_uuid instance;
};

struct world {
    struct pair pair;
    struct held held[HELD];
    int granted, made; /* made: ids of events that were drawn */
};

static const struct store_events_ops *events_of(const struct world *w, int s) {
    return &w->pair.store[s]->ops->events;
}

static int pick(struct world *w, int below) { return pair_pick(&w->pair, below); }

static bool chance(struct world *w, int percent) { return pair_chance(&w->pair, percent); }

static pawl_uuid event_id(int number) {
    pawl_uuid id = {{0x01, 0x90, 0, 0, 0, 0, 0x70, 0, 0x80}};
    for (int i = 0; i < 4; i++)
        id.b[15 - i] = (uint8_t)(number >> (8 * i));
    return id;
}

static int event_number(pawl_uuid id) {
    int number = 0;
    for (int i = 0; i < 4; i++)
        number |= id.b[15 - i] << (8 * i);
    return number;
}

static pawl_str stream_pick(struct world *w) { return pair_name(&w->pair, "s", pick(w, STREAMS)); }

static pawl_str key_pick(struct world *w) {
    return str_from(arena_printf(w->pair.arena, "view%d@%d", pick(w, NAMES), pick(w, VERSIONS) + 1));
}

static void append(struct world *w) {
    pawl_event events[EVENTS_MAX];
    struct events_append in = {
        .stream = stream_pick(w), .events = events, .count = (size_t)pick(w, EVENTS_MAX) + 1};
    bool again = w->made > 0 && chance(w, 8);
    int first = again ? pick(w, w->made) : w->made;
    for (size_t i = 0; i < in.count; i++)
        events[i] =
            (pawl_event){.id = event_id(first + (int)i + 1),
                         .type = str_from(types[(first + (int)i) % TYPES]),
                         .payload = pair_name(&w->pair, "", chance(w, 90) ? (first + (int)i) % 100 : 100),
                         .publish = chance(w, 5)};
    in.expected = chance(w, 70) ? EXPECT_ANY : pick(w, 12);
    w->made += again ? 0 : (int)in.count;
    pair_describe(&w->pair, "append %zu to %.*s expected=%" PRId64 " first=%d", in.count, STR_ARG(in.stream),
                  in.expected, first);
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct append_result out;
        pawl_error err = {0};
        if (pair_ok(&w->pair, s,
                    events_of(w, s)->events_append(w->pair.store[s], &in, w->pair.arena, &out, &err), &err))
            pair_say(&w->pair, s, " %d %" PRId64 " %" PRId64 " %d", (int)out.answer, out.version,
                     out.first_version, out.id_known);
    }
}

static void say_events(struct world *w, int s, const struct event_list *list) {
    pair_say(&w->pair, s, " head=%" PRId64, list->head);
    for (size_t i = 0; i < list->count; i++) {
        const pawl_stored_event *e = &list->events[i];
        pair_say(&w->pair, s, "\n event %.*s %" PRId64 " at %" PRId64 " #%d %.*s=%.*s %" PRId64 " replay=%d",
                 STR_ARG(e->stream), e->version, e->position, event_number(e->id), STR_ARG(e->type),
                 STR_ARG(e->payload), e->appended_ms, e->replay);
    }
}

static void stamp(struct world *w) {
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct stamp_result out;
        pawl_error err = {0};
        assert_int_equal(events_of(w, s)->events_stamp(w->pair.store[s], 1000, &out, &err), PAWL_OK);
    }
}

static void read_events(struct world *w) {
    pawl_read in = {.from = pick(w, 8), .backward = chance(w, 30), .limit = pick(w, 9) + 1};
    if (chance(w, 70))
        in.stream = stream_pick(w);
    if (chance(w, 20))
        in.as_of_ms = w->pair.now_ms - pick(w, 4000);
    if (!str_absent(in.stream) && w->made > 0 && chance(w, 15))
        in.as_of_event = event_id(pick(w, w->made) + 1);
    stamp(w);
    pair_describe(&w->pair, "read %.*s from %" PRId64 " backward=%d", STR_ARG(in.stream), in.from,
                  in.backward);
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct event_list out;
        pawl_error err = {0};
        if (pair_ok(&w->pair, s,
                    events_of(w, s)->events_read(w->pair.store[s], &in, w->pair.arena, &out, &err), &err))
            say_events(w, s, &out);
    }
}

/* The wait after a failed apply is drawn by the store: of these perspectives the first failure is the last.
 */
static bool waits_at_random(int name) { return name < NAMES / 2; }

static void enrol(struct world *w) {
    static const struct {
        enum pattern_mode mode;
        const char *text;
    } patterns[] = {{PATTERN_EXACT, "shop.ordercreated"},
                    {PATTERN_SUFFIX, "OrderCreated"},
                    {PATTERN_GLOB, "stock*"},
                    {PATTERN_REGEX, "(shop\\.)?order.*"},
                    {PATTERN_GLOB, "*"},
                    {PATTERN_REGEX, "(a+)+"}};
    struct event_pattern chosen[2];
    int name = pick(w, NAMES), place = (name + pick(w, 12) / 11) % 6;
    struct perspective_new in = {.name = pair_name(&w->pair, "view", name),
                                 .version = pick(w, VERSIONS) + 1,
                                 .patterns = chosen,
                                 .pattern_count = 1,
                                 .run = RUN_FUNCTION,
                                 .batch = 3,
                                 .max_attempts = waits_at_random(name) ? 1 : 3,
                                 .policy = name % 2 == 0 ? POLICY_BLOCK : POLICY_SKIP};
    chosen[0] = (struct event_pattern){patterns[place].mode, str_from(patterns[place].text)};
    pair_describe(&w->pair, "register view%d@%d pattern %d", name, in.version, place);
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct perspective_registered out;
        pawl_error err = {0};
        if (pair_ok(&w->pair, s, events_of(w, s)->perspective_register(w->pair.store[s], &in, &out, &err),
                    &err))
            pair_say(&w->pair, s, " %d state=%d backfilled=%d", (int)out.answer, (int)out.state,
                     out.backfilled);
    }
}

static void backfill(struct world *w) {
    pawl_str key = key_pick(w);
    int most = pick(w, 4) + 1;
    pair_describe(&w->pair, "backfill %.*s", STR_ARG(key));
    for (int s = 0; s < PAIR_SIDES; s++) {
        bool done = false;
        pawl_error err = {0};
        if (pair_ok(&w->pair, s,
                    events_of(w, s)->perspective_backfill(w->pair.store[s], key, most, &done, &err), &err))
            pair_say(&w->pair, s, " done=%d", done);
    }
}

static void note_grants(struct world *w, pawl_uuid instance,
                        const struct checkpoint_grants lists[static PAIR_SIDES]) {
    if (lists[0].count != lists[1].count)
        return;
    for (size_t i = 0; i < lists[0].count; i++) {
        const struct checkpoint_grant *grant = &lists[0].grants[i];
        struct held *held = &w->held[w->granted++ % HELD];
        *held = (struct held){.version = grant->version, .head = grant->head, .instance = instance};
        (void)snprintf(held->stream, sizeof held->stream, "%.*s", STR_ARG(grant->stream));
        (void)snprintf(held->key, sizeof held->key, "%.*s", STR_ARG(grant->perspective));
        for (int s = 0; s < PAIR_SIDES; s++)
            held->token[s] = lists[s].grants[i].token;
    }
}

static void claim(struct world *w) {
    pawl_str keys[NAMES], streams[2];
    struct checkpoint_grants lists[PAIR_SIDES] = {{NULL, 0, NULL, 0}};
    int instance = pick(w, PAIR_INSTANCES);
    struct checkpoints_claim in = {.instance = pair_instance(&w->pair, instance),
                                   .streams = streams,
                                   .stream_count = chance(w, 40) ? (size_t)pick(w, 2) + 1 : 0,
                                   .perspectives = keys,
                                   .perspective_count = NAMES,
                                   .max = pick(w, GRANTS_MAX) + 1,
                                   .lease_ms = 500 + pick(w, 5000)};
    int version = pick(w, VERSIONS) + 1, first = pick(w, STREAMS);
    for (int i = 0; i < NAMES; i++)
        keys[i] = str_from(arena_printf(w->pair.arena, "view%d@%d", i, version));
    for (int i = 0; i < 2; i++)
        streams[i] = pair_name(&w->pair, "s", (first + i) % STREAMS);
    pair_describe(&w->pair, "claim %d of version %d, %zu streams from s%d", in.max, version, in.stream_count,
                  first);
    for (int s = 0; s < PAIR_SIDES; s++) {
        pawl_error err = {0};
        pawl_status status =
            events_of(w, s)->checkpoints_claim(w->pair.store[s], &in, w->pair.arena, &lists[s], &err);
        if (!pair_ok(&w->pair, s, status, &err))
            continue;
        for (size_t i = 0; i < lists[s].count; i++) {
            const struct checkpoint_grant *g = &lists[s].grants[i];
            pair_say(&w->pair, s,
                     "\n grant %.*s %.*s %" PRId64 " of %" PRId64 " until %" PRId64 " replay=%" PRId64
                     " attempt=%d",
                     STR_ARG(g->stream), STR_ARG(g->perspective), g->version, g->head, g->lease_until_ms,
                     g->replay_to, g->attempt);
        }
        pair_say(&w->pair, s, " busy=%zu", lists[s].busy_count);
    }
    note_grants(w, in.instance, lists);
    if (lists[0].count == 0 && chance(w, 20))
        pair_instance_new(&w->pair, KIND_BIT(KIND_PERSPECTIVE), instance);
}

static struct held *held_pick(struct world *w) {
    int kept = w->granted < HELD ? w->granted : HELD;
    if (kept == 0)
        return NULL;
    int reach = chance(w, 80) && kept > 5 ? 5 : kept;
    return &w->held[(w->granted - 1 - pick(w, reach)) % HELD];
}

/* What a perspective is given; it breaks at an event whose number says so. */
struct seen {
    struct pair *pair;
    int side, broken;
};

static pawl_status see(const pawl_perspective_call *call, void *self, pawl_error *err) {
    struct seen *seen = self;
    for (size_t i = 0; i < call->count; i++)
        if (seen->broken > 0 && event_number(call->events[i].id) % BROKEN == seen->broken)
            return error_set(err, PAWL_INVALID, "see", "cannot apply event %d",
                             event_number(call->events[i].id) % 3);
    for (size_t i = 0; i < call->count; i++)
        pair_say(seen->pair, seen->side, " <%.*s:%" PRId64 "%s>", STR_ARG(call->events[i].stream),
                 call->events[i].version, call->events[i].replay ? "r" : "");
    return PAWL_OK;
}

static void apply(struct world *w) {
    const struct held *held = held_pick(w);
    int broken = chance(w, 30) ? pick(w, BROKEN) : 0, batch = pick(w, 4);
    if (held == NULL)
        return;
    if (!waits_at_random(held->key[4] - '0'))
        broken = 0;
    pair_describe(&w->pair, "apply %s %s broken=%d batch=%d", held->stream, held->key, broken, batch);
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct seen seen = {&w->pair, s, broken};
        pawl_str stream = str_from(held->stream);
        struct perspective_apply in = {.perspective = str_from(held->key),
                                       .token = held->token[s],
                                       .streams = &stream,
                                       .stream_count = 1,
                                       .batch = batch,
                                       .function = see,
                                       .self = &seen};
        struct apply_result out;
        pawl_error err = {0};
        if (!pair_ok(&w->pair, s,
                     events_of(w, s)->perspective_apply(w->pair.store[s], &in, w->pair.arena, &out, &err),
                     &err))
            continue;
        pair_say(&w->pair, s, " %d version=%" PRId64 " events=%" PRId64 " more=%d outcome=%d failed=%" PRId64,
                 (int)out.items[0].answer, out.items[0].version, out.items[0].events, out.items[0].more,
                 (int)out.items[0].outcome, out.items[0].failed_version);
        pair_say_text(&w->pair, s, "error", out.items[0].error);
    }
}

static void say_moved(struct world *w, int s, const struct advance_result *out) {
    for (size_t i = 0; i < out->count; i++) {
        const struct apply_item *item = &out->items[i];
        pair_say(&w->pair, s,
                 "\n moved %.*s %d version=%" PRId64 " events=%" PRId64 " more=%d outcome=%d failed=%" PRId64,
                 STR_ARG(out->streams[i]), (int)item->answer, item->version, item->events, item->more,
                 (int)item->outcome, item->failed_version);
        pair_say_text(&w->pair, s, "error", item->error);
    }
    pair_say(&w->pair, s, " busy=%zu", out->busy_count);
}

static void move_on(struct world *w) {
    pawl_str keys[NAMES], streams[3];
    int version = pick(w, VERSIONS) + 1, first = pick(w, STREAMS), view = pick(w, NAMES);
    int broken = chance(w, 30) && waits_at_random(view) ? pick(w, BROKEN) : 0;
    for (int i = 0; i < NAMES; i++)
        keys[i] = str_from(arena_printf(w->pair.arena, "view%d@%d", i, version));
    for (int i = 0; i < 3; i++)
        streams[i] = pair_name(&w->pair, "s", (first + i) % STREAMS);
    struct perspective_advance in = {.instance = pair_instance(&w->pair, pick(w, PAIR_INSTANCES)),
                                     .perspective = keys[view],
                                     .streams = streams,
                                     .stream_count = chance(w, 50) ? (size_t)pick(w, 3) + 1 : 0,
                                     .mine = keys,
                                     .mine_count = (size_t)pick(w, NAMES + 1),
                                     .batch = pick(w, 8),
                                     .function = see};
    pair_describe(&w->pair, "advance %.*s, %zu streams from s%d, %zu mine, batch=%d broken=%d",
                  STR_ARG(in.perspective), in.stream_count, first, in.mine_count, in.batch, broken);
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct seen seen = {&w->pair, s, broken};
        struct advance_result out;
        pawl_error err = {0};
        in.self = &seen;
        if (pair_ok(&w->pair, s,
                    events_of(w, s)->perspective_advance(w->pair.store[s], &in, w->pair.arena, &out, &err),
                    &err))
            say_moved(w, s, &out);
    }
}

static void look_outside(struct world *w) {
    const struct held *held = held_pick(w);
    int limit = pick(w, 5) + 1;
    if (held == NULL)
        return;
    pair_describe(&w->pair, "events for %s %s", held->stream, held->key);
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct checkpoint_ref ref = {str_from(held->stream), str_from(held->key), held->token[s]};
        struct checkpoint_batch out;
        pawl_error err = {0};
        if (!pair_ok(
                &w->pair, s,
                events_of(w, s)->checkpoint_events(w->pair.store[s], &ref, limit, w->pair.arena, &out, &err),
                &err))
            continue;
        say_events(w, s, &out.list);
        pair_say(&w->pair, s, " through=%" PRId64 " more=%d", out.through, out.more);
    }
}

static void report(struct world *w) {
    const struct held *held = held_pick(w);
    bool renew = chance(w, 25), guess = chance(w, 10);
    pawl_uuid other = pair_instance(&w->pair, pick(w, PAIR_INSTANCES));
    if (held == NULL)
        return;
    pawl_uuid instance = chance(w, 90) ? held->instance : other;
    int64_t span = held->head - held->version;
    struct checkpoint_report in = {
        .stream = str_from(held->stream),
        .perspective = chance(w, 98) ? str_from(held->key) : STR("view0@9"),
        .version = held->version + (chance(w, 60) ? span : pick(w, (int)(span < 5 ? span : 5) + 1)) +
                   (chance(w, 4) ? 50 : 0),
        .status = chance(w, 60)   ? CHECKPOINT_COMPLETED
                  : chance(w, 50) ? CHECKPOINT_FAILED
                  : chance(w, 50) ? CHECKPOINT_PENDING
                                  : CHECKPOINT_PROCESSING,
        .delay_ms = pick(w, 2000) + 1};
    if (in.status == CHECKPOINT_FAILED)
        in.error = pair_name(&w->pair, "it broke ", pick(w, 3));
    pair_describe(&w->pair, "%s %s %s version=%" PRId64 " status=%d", renew ? "renew" : "report",
                  held->stream, held->key, in.version, (int)in.status);
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct checkpoint_ref ref = {in.stream, in.perspective, held->token[s] + guess};
        struct checkpoints_renew again = {instance, &ref, 1, 4000};
        struct answer_list out = {0};
        pawl_error err = {0};
        in.token = held->token[s] + guess;
        struct checkpoints_report one = {instance, &in, 1};
        pawl_status status =
            renew ? events_of(w, s)->checkpoints_renew(w->pair.store[s], &again, w->pair.arena, &out, &err)
                  : w->pair.store[s]->ops->core.checkpoints_report(w->pair.store[s], &one, w->pair.arena,
                                                                   &out, &err);
        if (pair_ok(&w->pair, s, status, &err))
            pair_say(&w->pair, s, " %d", (int)out.answers[0]);
    }
}

static void leave_out(struct world *w) {
    struct checkpoint_skip in = {.perspective = key_pick(w),
                                 .stream = stream_pick(w),
                                 .version = pick(w, 25) + 1,
                                 .reason = STR("a person said so")};
    pair_describe(&w->pair, "skip %.*s %.*s %" PRId64, STR_ARG(in.perspective), STR_ARG(in.stream),
                  in.version);
    for (int s = 0; s < PAIR_SIDES; s++) {
        enum store_answer answer = ANSWER_APPLIED;
        pawl_error err = {0};
        if (pair_ok(&w->pair, s, events_of(w, s)->checkpoint_skip(w->pair.store[s], &in, &answer, &err),
                    &err))
            pair_say(&w->pair, s, " %d", (int)answer);
    }
}

static void reset(struct world *w) {
    pawl_str stream = stream_pick(w);
    struct perspective_reset in = {.perspective = key_pick(w),
                                   .mode = chance(w, 60) ? RESET_FAILED : RESET_REBUILD,
                                   .streams = &stream,
                                   .stream_count = chance(w, 50) ? 1 : 0};
    pair_describe(&w->pair, "reset %.*s mode=%d streams=%zu", STR_ARG(in.perspective), (int)in.mode,
                  in.stream_count);
    for (int s = 0; s < PAIR_SIDES; s++) {
        int64_t count = 0;
        pawl_error err = {0};
        if (pair_ok(&w->pair, s, events_of(w, s)->perspective_reset(w->pair.store[s], &in, &count, &err),
                    &err))
            pair_say(&w->pair, s, " %" PRId64, count);
    }
}

static void change(struct world *w) {
    pawl_str key = key_pick(w);
    struct perspective_switch in = {.name = pair_name(&w->pair, "view", pick(w, NAMES)),
                                    .version = pick(w, VERSIONS) + 1};
    int deed = pick(w, 10);
    enum perspective_action action = deed == 0  ? PERSPECTIVE_REMOVE
                                     : deed < 3 ? PERSPECTIVE_PAUSE
                                                : PERSPECTIVE_RESUME;
    pair_describe(&w->pair, "change %.*s deed=%d switch %.*s@%d", STR_ARG(key), deed, STR_ARG(in.name),
                  in.version);
    for (int s = 0; s < PAIR_SIDES; s++) {
        enum store_answer answer = ANSWER_APPLIED;
        struct switch_result out = {0};
        pawl_error err = {0};
        pawl_status status =
            deed < 6 ? events_of(w, s)->perspective_change(w->pair.store[s], key, action, &answer, &err)
                     : events_of(w, s)->perspective_switch(w->pair.store[s], &in, w->pair.arena, &out, &err);
        if (pair_ok(&w->pair, s, status, &err))
            pair_say(&w->pair, s, " %d %d behind=%" PRId64, (int)answer, (int)out.answer, out.behind);
    }
}

static void reached(struct world *w) {
    struct perspective_target in = {
        .perspective = chance(w, 50) ? key_pick(w) : pair_name(&w->pair, "view", pick(w, NAMES))};
    if (chance(w, 60)) {
        in.stream = stream_pick(w);
        in.version = pick(w, 20) + 1;
    } else {
        in.position = pick(w, 60) + 1;
    }
    stamp(w);
    pair_describe(&w->pair, "reached %.*s %.*s %" PRId64 " %" PRId64, STR_ARG(in.perspective),
                  STR_ARG(in.stream), in.version, in.position);
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct perspective_reached out;
        pawl_error err = {0};
        if (pair_ok(&w->pair, s,
                    events_of(w, s)->perspective_reached(w->pair.store[s], &in, w->pair.arena, &out, &err),
                    &err))
            pair_say(&w->pair, s, " %d at=%" PRId64 " failed=%d", out.reached, out.at, out.failed);
    }
}

static void snapshots(struct world *w) {
    struct snapshot in = {.stream = stream_pick(w),
                          .name = STR("sum"),
                          .version = pick(w, 20) + 1,
                          .state = pair_name(&w->pair, "", pick(w, 50))};
    int64_t most = pick(w, 20);
    pair_describe(&w->pair, "snapshot %.*s %" PRId64 " most=%" PRId64, STR_ARG(in.stream), in.version, most);
    for (int s = 0; s < PAIR_SIDES; s++) {
        enum store_answer answer = ANSWER_APPLIED;
        struct snapshot out;
        pawl_error err = {0};
        if (pair_ok(&w->pair, s, events_of(w, s)->snapshot_put(w->pair.store[s], &in, &answer, &err), &err))
            pair_say(&w->pair, s, " %d", (int)answer);
        if (pair_ok(&w->pair, s,
                    events_of(w, s)->snapshot_get(w->pair.store[s], in.stream, in.name, most, w->pair.arena,
                                                  &out, &err),
                    &err))
            pair_say(&w->pair, s, " %" PRId64 "=%.*s %" PRId64, out.version, STR_ARG(out.state), out.made_ms);
    }
}

/* Receptors on events: registered, removed, fed. */
static void receptors(struct world *w) {
    static const char *const patterns[] = {"*", "suffix:OrderCreated", "stock*"};
    int deed = pick(w, 10);
    struct event_pattern pattern = event_pattern_from(str_from(patterns[pick(w, 3)]));
    pawl_str names[2] = {pair_name(&w->pair, "r", pick(w, 3)), STR("r1")};
    struct receptor_new in = {names[0], &pattern, 1, chance(w, 50), chance(w, 30)};
    struct receptors_feed feed = {names, (size_t)pick(w, 2) + 1, pick(w, 6) + 1};
    stamp(w);
    pair_describe(&w->pair, "receptor %.*s deed=%d limit=%d", STR_ARG(names[0]), deed, feed.limit);
    for (int s = 0; s < PAIR_SIDES; s++) {
        struct store *store = w->pair.store[s];
        enum store_answer answer = ANSWER_APPLIED;
        struct feed_result out = {0};
        pawl_error err = {0};
        pawl_status status = deed == 0  ? events_of(w, s)->receptor_remove(store, names[0], &answer, &err)
                             : deed < 4 ? events_of(w, s)->receptor_register(store, &in, &answer, &err)
                                        : events_of(w, s)->receptors_feed(store, &feed, &out, &err);
        if (pair_ok(&w->pair, s, status, &err))
            pair_say(&w->pair, s, " %d known=%zu %" PRId64 " %" PRId64 " more=%d", (int)answer, out.known,
                     out.events, out.fed, out.more);
    }
}

static void say_receptors(struct world *w, int s) {
    struct event_receptors list;
    struct message_filter filter = {.kind = KIND_INBOX, .lane = -1, .limit = 500};
    struct message_rows rows;
    pawl_error err = {0};
    assert_int_equal(events_of(w, s)->receptor_list(w->pair.store[s], w->pair.arena, &list, &err), PAWL_OK);
    for (size_t i = 0; i < list.count; i++)
        pair_say(&w->pair, s, "\n %.*s %d %.*s at %" PRId64 " of %" PRId64 " fed=%" PRId64,
                 STR_ARG(list.rows[i].name), (int)list.rows[i].patterns[0].mode,
                 STR_ARG(list.rows[i].patterns[0].text), list.rows[i].position, list.head, list.rows[i].fed);
    assert_int_equal(
        w->pair.store[s]->ops->view.messages(w->pair.store[s], &filter, w->pair.arena, &rows, &err), PAWL_OK);
    for (size_t i = 0; i < rows.count; i++) {
        char id[UUID_TEXT_BYTES];
        pair_say(&w->pair, s, "\n message %s %.*s %.*s", uuid_format(rows.rows[i].item.id, id),
                 STR_ARG(rows.rows[i].item.topic), STR_ARG(rows.rows[i].item.type));
    }
}

static void say_perspectives(struct world *w, int s) {
    struct perspective_rows rows;
    struct checkpoint_errors errors;
    pawl_error err = {0};
    assert_int_equal(
        events_of(w, s)->perspective_list(w->pair.store[s], (pawl_str){NULL, 0}, w->pair.arena, &rows, &err),
        PAWL_OK);
    for (size_t i = 0; i < rows.count; i++) {
        const struct perspective_row *r = &rows.rows[i];
        pair_say(&w->pair, s,
                 "\n %.*s state=%d paused=%d backfilled=%d %" PRId64 ": %" PRId64 " %" PRId64 " %" PRId64
                 " %" PRId64,
                 STR_ARG(r->key), (int)r->state, r->paused, r->backfilled, r->checkpoints, r->pending,
                 r->processing, r->completed, r->failed);
        pair_say(&w->pair, s,
                 " stopped=%" PRId64 " matched=%" PRId64 " applied=%" PRId64 " lag=%" PRId64 " %" PRId64
                 " %d",
                 r->stopped, r->matched, r->applied, r->lag_events, r->lag_ms, r->lag_whole);
    }
    assert_int_equal(events_of(w, s)->checkpoint_errors(w->pair.store[s], (pawl_str){NULL, 0}, 20,
                                                        w->pair.arena, &errors, &err),
                     PAWL_OK);
    for (size_t i = 0; i < errors.count; i++)
        pair_say(&w->pair, s, "\n error %.*s %.*s %" PRId64, STR_ARG(errors.rows[i].perspective),
                 STR_ARG(errors.rows[i].fingerprint), errors.rows[i].count);
}

static void say_state(void *world, int s) {
    struct world *w = world;
    struct checkpoint_filter filter = {.status = -1, .limit = 500};
    struct checkpoint_views views;
    pawl_error err = {0};
    struct stamp_result stamped;
    assert_int_equal(events_of(w, s)->events_stamp(w->pair.store[s], 1000, &stamped, &err), PAWL_OK);
    assert_int_equal(
        events_of(w, s)->checkpoints_list(w->pair.store[s], &filter, w->pair.arena, &views, &err), PAWL_OK);
    for (size_t i = 0; i < views.count; i++) {
        const struct checkpoint_view *v = &views.rows[i];
        pair_say(&w->pair, s,
                 "\n %.*s %.*s %" PRId64 " of %" PRId64 " status=%d stopped=%d attempts=%d by=%d",
                 STR_ARG(v->stream), STR_ARG(v->perspective), v->version, v->head, (int)v->status, v->stopped,
                 v->attempts, v->instance.b[15]);
        pair_say(&w->pair, s,
                 " lease=%" PRId64 " next=%" PRId64 " made=%" PRId64 " at=%" PRId64 " replay=%" PRId64
                 " failed=%" PRId64,
                 v->lease_until_ms, v->next_ms, v->created_ms, v->updated_ms, v->replay_to,
                 v->failed_version);
        pair_say_text(&w->pair, s, "error", v->error);
    }
    say_perspectives(w, s);
    say_receptors(w, s);
}

static void instances(struct world *w) { pair_instances(&w->pair, KIND_BIT(KIND_PERSPECTIVE)); }

static void advance(struct world *w) { pair_advance(&w->pair, chance(w, 10) ? pick(w, 9000) : pick(w, 700)); }

static void operation(void *world) {
    static void (*const deeds[])(struct world * w) = {
        append,  append,   append,    append,    append,    claim,       claim,     claim,  claim,
        apply,   apply,    apply,     apply,     report,    report,      leave_out, reset,  change,
        enrol,   reached,  advance,   snapshots, instances, read_events, enrol,     apply,  look_outside,
        advance, backfill, receptors, receptors, move_on,   move_on,     move_on,   move_on};
    struct world *w = world;
    deeds[pick(w, (int)(sizeof deeds / sizeof deeds[0]))](w);
}

static void begin(void *world) {
    append(world);
    enrol(world);
}

/* covers: P06 P07 P08 P13 P14 P20 B0.1 B0.4 */
int main(void) {
    static const struct pair_game game = {.name = "differential events",
                                          .world_bytes = sizeof(struct world),
                                          .kinds = KIND_BIT(KIND_PERSPECTIVE),
                                          .begin = begin,
                                          .operation = operation,
                                          .say_state = say_state,
                                          .ops = 2000,
                                          .ops_per_world = 1000,
                                          .state_every = 8};
    return pair_main(&game);
}
