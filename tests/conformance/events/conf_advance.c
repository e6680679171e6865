/* Advancing perspectives: claim, apply and move in one transaction. */
#include "conformance/events/event_words.h"

#include <stdio.h>
#include <string.h>

/* As instance n; streams: count 0 = what is due. Whoever calls looks after the perspective and nothing else.
 */
struct wanted {
    int n;
    const char *key;
    pawl_str streams[4];
    size_t count;
    int batch;
};

static struct perspective_advance advance_of(const struct wanted *want, const pawl_str *key,
                                             struct seen *seen) {
    return (struct perspective_advance){.instance = instance_id(want->n),
                                        .perspective = *key,
                                        .streams = want->streams,
                                        .stream_count = want->count,
                                        .mine = key,
                                        .mine_count = 1,
                                        .batch = want->batch,
                                        .function = see,
                                        .self = seen};
}

static struct advance_result moved_(struct conf *c, struct wanted want, struct seen *seen) {
    pawl_str key = str_from(want.key);
    struct perspective_advance in = advance_of(&want, &key, seen);
    struct advance_result out = {0};
    *seen = (struct seen){.fails_at = seen->fails_at};
    ok(c, EVENTS(c)->perspective_advance(c->store, &in, c->arena, &out, &c->err));
    return out;
}
#define moved(c, ...) (conf_at(c, __FILE__, __LINE__), moved_(c, __VA_ARGS__))

static void begin(struct conf *c) {
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
}

/* covers: P11 P16 P18 P43 */
static void what_is_due_is_applied_and_completed_in_one_step(void **state) {
    struct conf *c = *state;
    struct seen seen = {0};
    begin(c);
    append(c, "order-1", EXPECT_ANY, "Created", 2, 1);
    append(c, "order-1", EXPECT_ANY, "Paid", 1, 3);
    struct advance_result out = moved(c, (struct wanted){.n = 1, .key = "orders@1"}, &seen);
    assert_int_equal(out.count, 1);
    assert_true(str_equal(out.streams[0], STR("order-1")));
    assert_int_equal(out.items[0].answer, ANSWER_APPLIED);
    assert_int_equal(out.items[0].version, 3); /* what does not match is passed over */
    assert_int_equal(out.items[0].events, 2);
    assert_false(out.items[0].more);
    assert_string_equal(seen.text, "1:Created 2:Created");
    struct checkpoint_view after = checkpoint_of(c, "order-1", "orders@1");
    assert_int_equal(after.status, CHECKPOINT_COMPLETED);
    assert_int_equal(after.version, 3);
    assert_int_equal(after.lease_until_ms, 0);
    assert_int_equal(moved(c, (struct wanted){.n = 1, .key = "orders@1"}, &seen).count, 0);
    struct perspective_row row = perspective_of(c, "orders", 1);
    assert_int_equal(row.applied, 2);
    assert_int_equal(row.completed, 1);
    assert_int_equal(row.pending, 0);
}

/* covers: P37 P43 */
static void a_batch_is_filled_in_order_and_the_rest_is_due_at_once(void **state) {
    struct conf *c = *state;
    struct seen seen = {0};
    begin(c);
    append(c, "a", EXPECT_ANY, "Created", 2, 1);
    append(c, "b", EXPECT_ANY, "Created", 4, 3);
    append(c, "d", EXPECT_ANY, "Created", 1, 7);
    struct wanted want = {.n = 1, .key = "orders@1", .batch = 3};
    struct advance_result out = moved(c, want, &seen);
    assert_int_equal(out.count, 2); /* what waits in a and b fills it */
    assert_int_equal(out.items[0].version, 2);
    assert_false(out.items[0].more);
    assert_int_equal(out.items[1].version, 1);
    assert_true(out.items[1].more);
    assert_int_equal(checkpoint_of(c, "b", "orders@1").status, CHECKPOINT_PENDING);
    assert_int_equal(checkpoint_of(c, "d", "orders@1").version, 0);
    assert_string_equal(seen.text, "1:Created 2:Created 1:Created");
    while (moved(c, want, &seen).count > 0)
        continue;
    assert_int_equal(checkpoint_of(c, "b", "orders@1").version, 4);
    assert_int_equal(checkpoint_of(c, "d", "orders@1").version, 1);
    assert_int_equal(perspective_of(c, "orders", 1).applied, 7);
}

/* covers: P27 B0.13 */
static void behind_it_every_wake_up_of_the_named_streams_is_written_down(void **state) {
    struct conf *c = *state;
    struct seen seen = {0};
    begin(c);
    register_one(c, "totals", 1, PATTERN_EXACT, "Created");
    append(c, "a", EXPECT_ANY, "Created", 3, 1);
    append(c, "b", EXPECT_ANY, "Created", 1, 4);
    struct wanted all = {.n = 1, .key = "orders@1"}, totals = {.n = 1, .key = "totals@1"};
    moved(c, all, &seen);
    moved(c, totals, &seen);
    append(c, "a", EXPECT_ANY, "Created", 3, 5);
    append(c, "b", EXPECT_ANY, "Created", 1, 8);
    assert_int_equal(moved(c, all, &seen).count, 0); /* nothing is due: it is in the messages */
    struct wanted named = {
        .n = 1, .key = "orders@1", .streams = {STR("b"), STR("a"), STR("nobody")}, .count = 3, .batch = 3};
    struct advance_result out = moved(c, named, &seen);
    assert_int_equal(out.count, 1);
    assert_true(str_equal(out.streams[0], STR("a")));
    assert_int_equal(out.busy_count, 0);
    /* The one that found no room, and those of a perspective that somebody else runs, are due. */
    assert_int_equal(moved(c, all, &seen).count, 1);
    assert_int_equal(checkpoint_of(c, "b", "orders@1").version, 2);
    assert_int_equal(moved(c, totals, &seen).count, 2);
}

/* covers: P22 P23 P24 P25 P26 B0.4 B0.14 */
static void one_bad_event_stops_its_stream_only_and_keeps_its_error(void **state) {
    struct conf *c = *state;
    struct seen seen = {.fails_at = 3};
    begin(c);
    append(c, "a", EXPECT_ANY, "Created", 2, 1);
    append(c, "b", EXPECT_ANY, "Created", 4, 3);
    append(c, "d", EXPECT_ANY, "Created", 1, 7);
    struct wanted want = {.n = 1, .key = "orders@1"};
    struct advance_result out = moved(c, want, &seen);
    assert_int_equal(out.count, 3);
    assert_int_equal(out.items[0].answer, ANSWER_APPLIED);
    assert_int_equal(out.items[1].answer, ANSWER_INVALID);
    assert_int_equal(out.items[1].outcome, FAIL_RETRY);
    assert_int_equal(out.items[1].version, 2);
    assert_int_equal(out.items[1].failed_version, 3);
    assert_true(str_equal(out.items[1].error, STR("cannot apply version 3")));
    assert_int_equal(out.items[2].answer, ANSWER_APPLIED);
    struct checkpoint_view bad = checkpoint_of(c, "b", "orders@1");
    assert_int_equal(bad.status, CHECKPOINT_FAILED);
    assert_int_equal(bad.attempts, 1);
    assert_true(str_equal(bad.error, STR("cannot apply version 3")));
    assert_int_equal(moved(c, want, &seen).count, 0); /* no hot loop */
    want.streams[0] = STR("b");
    want.count = 1;
    assert_int_equal(moved(c, want, &seen).count, 0); /* a wake-up is no reason to try earlier */
    advance(c, 60000);
    seen.fails_at = 0;
    out = moved(c, want, &seen);
    assert_int_equal(out.items[0].version, 4);
    bad = checkpoint_of(c, "b", "orders@1");
    assert_int_equal(bad.attempts, 0);
    assert_true(str_absent(bad.error));
    assert_int_equal(perspective_of(c, "orders", 1).applied, 7);
}

/* covers: P13 P14 P20 */
static void who_was_granted_it_before_changes_nothing_any_more(void **state) {
    struct conf *c = *state;
    struct seen seen = {0};
    begin(c);
    append(c, "a", EXPECT_ANY, "Created", 1, 1);
    struct checkpoint_grants granted = grants(c, 1, NULL, "orders@1", NULL);
    assert_int_equal(granted.count, 1);
    struct wanted want = {.n = 1, .key = "orders@1", .streams = {STR("a")}, .count = 1};
    assert_int_equal(moved(c, want, &seen).count, 0); /* its lease holds */
    advance(c, 2 * LEASE_MS);
    beat(c, 1);
    assert_int_equal(moved(c, (struct wanted){.n = 1, .key = "orders@1"}, &seen).count, 1);
    assert_int_equal(report_at(c, &granted.grants[0], 1, CHECKPOINT_FAILED, "late"), ANSWER_STALE);
    assert_int_equal(apply_one(c, "orders@1", granted.grants[0].token, "a", 0, &seen).answer, ANSWER_STALE);
    assert_int_equal(checkpoint_of(c, "a", "orders@1").status, CHECKPOINT_COMPLETED);
}

static void paused_removed_and_evicted_ones_are_left_alone(void **state) {
    struct conf *c = *state;
    struct seen seen = {0};
    enum store_answer answer = 0;
    begin(c);
    pawl_str key = STR("orders@1");
    append(c, "a", EXPECT_ANY, "Created", 1, 1);
    struct wanted due = {.n = 1, .key = "orders@1"};
    moved(c, due, &seen);
    append(c, "a", EXPECT_ANY, "Created", 1, 2);
    ok(c, EVENTS(c)->perspective_change(c->store, key, PERSPECTIVE_PAUSE, &answer, &c->err));
    struct wanted named = {.n = 1, .key = "orders@1", .streams = {STR("a")}, .count = 1};
    assert_int_equal(moved(c, named, &seen).count, 0);
    assert_int_equal(moved(c, due, &seen).count, 0);
    ok(c, EVENTS(c)->perspective_change(c->store, key, PERSPECTIVE_RESUME, &answer, &c->err));
    assert_int_equal(moved(c, due, &seen).count, 1); /* the wake-up was not lost */
    ok(c, EVENTS(c)->perspective_change(c->store, key, PERSPECTIVE_REMOVE, &answer, &c->err));
    struct perspective_advance in = advance_of(&due, &key, &seen);
    struct advance_result out;
    expect(c, PAWL_NOT_FOUND, EVENTS(c)->perspective_advance(c->store, &in, c->arena, &out, &c->err));
    expect_error(c, "not registered");
    in.instance = instance_id(2);
    expect(c, PAWL_STALE, EVENTS(c)->perspective_advance(c->store, &in, c->arena, &out, &c->err));
}

static void skipped_events_count_as_applied(void **state) {
    struct conf *c = *state;
    struct seen seen = {0};
    enum store_answer answer = 0;
    begin(c);
    append(c, "a", EXPECT_ANY, "Created", 3, 1);
    struct checkpoint_skip skip = {
        .perspective = STR("orders@1"), .stream = STR("a"), .version = 2, .reason = STR("a typing error")};
    ok(c, EVENTS(c)->checkpoint_skip(c->store, &skip, &answer, &c->err));
    assert_int_equal(answer, ANSWER_APPLIED);
    struct advance_result out = moved(c, (struct wanted){.n = 1, .key = "orders@1"}, &seen);
    assert_int_equal(out.items[0].version, 3);
    assert_int_equal(out.items[0].events, 2);
    assert_string_equal(seen.text, "1:Created 3:Created");
    assert_int_equal(perspective_of(c, "orders", 1).applied, 3);
    assert_int_equal(perspective_of(c, "orders", 1).lag_events, 0);
}

/* Lists are requested often: each examines a limited number of events and the next continues there. */
static void the_lag_is_looked_for_among_so_many_events(void **state) {
    struct conf *c = *state;
    begin(c);
    for (int i = 0; i < 5; i++) {
        append(c, "noise", EXPECT_ANY, "Noise", 500, 0); /* nothing that orders@1 takes */
        advance(c, 1000);
    }
    append(c, "a", EXPECT_ANY, "Created", 1, 0);
    advance(c, 100);
    struct perspective_row row = perspective_of(c, "orders", 1);
    assert_false(row.lag_whole);
    assert_int_equal(row.position, PAWL_LAG_LOOK);
    assert_int_equal(row.lag_events, 1);
    assert_int_equal(row.lag_ms, 2100); /* the most it can be: that of the last event looked at */
    row = perspective_of(c, "orders", 1);
    assert_true(row.lag_whole);
    assert_int_equal(row.position, 2500);
    assert_int_equal(row.lag_ms, 100);
    struct seen seen = {0};
    assert_int_equal(moved(c, (struct wanted){.n = 1, .key = "orders@1"}, &seen).items[0].events, 1);
    row = perspective_of(c, "orders", 1);
    assert_true(row.lag_whole);
    assert_int_equal(row.position, 2501);
    assert_int_equal(row.lag_ms, 0);
    append(c, "noise", EXPECT_ANY, "Noise", 1000, 0);
    append(c, "noise", EXPECT_ANY, "Noise", 1000, 0);
    advance(c, 1000);
    append(c, "noise", EXPECT_ANY, "Noise", 1, 0);
    row = perspective_of(c, "orders", 1);
    assert_false(row.lag_whole);
    assert_int_equal(row.lag_ms, 0);                   /* nothing is behind as far as it is counted */
    assert_int_equal(row.position, 2 * PAWL_LAG_LOOK); /* from what was remembered */
}

static void perspectives_share_what_a_list_looks_at(void **state) {
    struct conf *c = *state;
    struct perspective_rows rows;
    begin(c);
    register_one(c, "others", 1, PATTERN_EXACT, "Other");
    append(c, "noise", EXPECT_ANY, "Noise", 1000, 0);
    append(c, "noise", EXPECT_ANY, "Noise", 1, 0);
    stamp(c);
    ok(c, EVENTS(c)->perspective_list(c->store, (pawl_str){NULL, 0}, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 2);
    for (size_t i = 0; i < rows.count; i++) {
        assert_false(rows.rows[i].lag_whole);
        assert_int_equal(rows.rows[i].position, PAWL_LAG_LOOK / 2);
    }
    assert_true(perspective_of(c, "orders", 1).lag_whole); /* alone it has everything */
}

static void a_worker_learns_what_there_is_without_counts(void **state) {
    struct conf *c = *state;
    struct perspective_rows rows;
    enum store_answer answer = 0;
    begin(c);
    register_one(c, "totals", 1, PATTERN_GLOB, "*");
    register_one(c, "gone", 1, PATTERN_GLOB, "*");
    append(c, "a", EXPECT_ANY, "Created", 3, 1);
    ok(c, EVENTS(c)->perspective_change(c->store, STR("gone@1"), PERSPECTIVE_REMOVE, &answer, &c->err));
    ok(c, EVENTS(c)->perspective_change(c->store, STR("totals@1"), PERSPECTIVE_PAUSE, &answer, &c->err));
    ok(c, EVENTS(c)->perspective_defined(c->store, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 2);
    assert_true(str_equal(rows.rows[0].key, STR("orders@1")));
    assert_int_equal(rows.rows[0].state, PERSPECTIVE_LIVE);
    assert_int_equal(rows.rows[0].run, RUN_FUNCTION);
    assert_int_equal(rows.rows[0].batch, perspective_of(c, "orders", 1).batch);
    assert_int_equal(rows.rows[0].pattern_count, 1);
    assert_true(str_equal(rows.rows[0].patterns[0].text, STR("Created")));
    assert_int_equal(rows.rows[0].pending + rows.rows[0].matched + rows.rows[0].position, 0);
    assert_true(rows.rows[1].paused);
    assert_true(rows.rows[1].backfilled);
}

static void append_traced(struct conf *c, const char *stream, const char *type, const char *traceparent) {
    pawl_event event = {.type = str_from(type), .payload = STR("{}"), .traceparent = str_from(traceparent)};
    struct events_append in = {
        .stream = str_from(stream), .expected = EXPECT_ANY, .events = &event, .count = 1};
    struct append_result out;
    ok(c, EVENTS(c)->events_append(c->store, &in, c->arena, &out, &c->err));
}

static bool linked(const struct advance_result *out, const char *traceparent) {
    size_t found = 0;
    for (size_t i = 0; i < out->link_count; i++)
        found += str_equal_cstr(out->links[i], traceparent);
    assert_true(found <= 1);
    return found == 1;
}

#define TRACED(digit) "00-0000000000000000000000000000000" digit "-000000000000000" digit "-01"

static void who_traces_learns_where_the_events_came_from(void **state) {
    struct conf *c = *state;
    struct seen seen = {0};
    pawl_str key = STR("orders@1");
    struct wanted due = {.n = 1, .key = "orders@1"};
    struct advance_result out = {0};
    begin(c);
    append_traced(c, "a", "Created", TRACED("1"));
    append_traced(c, "a", "Created", TRACED("1"));
    append_traced(c, "a", "Paid", TRACED("2")); /* not given to it */
    append(c, "b", EXPECT_ANY, "Created", 1, 1);
    append_traced(c, "b", "Created", TRACED("3"));
    struct perspective_advance in = advance_of(&due, &key, &seen);
    in.links_max = 8;
    ok(c, EVENTS(c)->perspective_advance(c->store, &in, c->arena, &out, &c->err));
    assert_int_equal(out.count, 2);
    assert_int_equal(out.link_count, 2);
    assert_true(linked(&out, TRACED("1")) && linked(&out, TRACED("3")));
    append_traced(c, "a", "Created", TRACED("4"));
    append_traced(c, "a", "Created", TRACED("5"));
    struct wanted named = {.n = 1, .key = "orders@1", .streams = {STR("a")}, .count = 1};
    in = advance_of(&named, &key, &seen);
    in.links_max = 1;
    ok(c, EVENTS(c)->perspective_advance(c->store, &in, c->arena, &out, &c->err));
    assert_int_equal(out.link_count, 1); /* not more than wanted */
    append_traced(c, "a", "Created", TRACED("6"));
    assert_int_equal(moved(c, named, &seen).link_count, 0); /* none wanted */
    in.links_max = PAWL_LIST_MAX + 1;
    expect(c, PAWL_INVALID, EVENTS(c)->perspective_advance(c->store, &in, c->arena, &out, &c->err));
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(what_is_due_is_applied_and_completed_in_one_step),
    CONF_TEST(a_batch_is_filled_in_order_and_the_rest_is_due_at_once),
    CONF_TEST(behind_it_every_wake_up_of_the_named_streams_is_written_down),
    CONF_TEST(one_bad_event_stops_its_stream_only_and_keeps_its_error),
    CONF_TEST(who_was_granted_it_before_changes_nothing_any_more),
    CONF_TEST(paused_removed_and_evicted_ones_are_left_alone),
    CONF_TEST(skipped_events_count_as_applied),
    CONF_TEST(the_lag_is_looked_for_among_so_many_events),
    CONF_TEST(perspectives_share_what_a_list_looks_at),
    CONF_TEST(a_worker_learns_what_there_is_without_counts),
    CONF_TEST(who_traces_learns_where_the_events_came_from),
};

CONF_GROUP(advance, tests);
