/* Perspectives: who gets which events, and checkpoints that never lose a wake-up. */
#include "conformance/events/event_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum store_answer change(struct conf *c, const char *key, enum perspective_action action) {
    enum store_answer answer = 0;
    ok(c, EVENTS(c)->perspective_change(c->store, str_from(key), action, &answer, &c->err));
    return answer;
}

/* covers: P01 P02 P05 P07 P08 P09 B0.1 B0.3 */
static void the_first_matching_event_makes_the_checkpoint(void **state) {
    struct conf *c = *state;
    assert_int_equal(register_one(c, "orders", 1, PATTERN_REGEX, ".*OrderCreated.*").state, PERSPECTIVE_LIVE);
    register_one(c, "all", 1, PATTERN_GLOB, "*");
    append(c, "order-1", EXPECT_ANY, "OrderPaid", 1, 1);
    assert_int_equal(checkpoint_count(c, "orders@1"), 0);
    assert_int_equal(checkpoint_count(c, "all@1"), 1);
    append(c, "order-1", EXPECT_ANY, "OrderCreated", 2, 2);
    struct checkpoint_view made = checkpoint_of(c, "order-1", "orders@1");
    assert_int_equal(made.version, 0); /* it starts before the event that made it */
    assert_int_equal(made.head, 3);
    assert_int_equal(made.status, CHECKPOINT_PENDING);
    assert_int_equal(made.created_ms, c->now_ms);
    append(c, "order-1", EXPECT_ANY, "OrderCreated", 1, 4);
    assert_int_equal(checkpoint_count(c, "orders@1"), 1);
    /* One message per append of a stream that has a checkpoint. */
    assert_int_equal(counted(c, KIND_PERSPECTIVE).put, 3);
    assert_int_equal(register_one(c, "orders", 1, PATTERN_REGEX, ".*OrderCreated.*").answer,
                     ANSWER_DUPLICATE);
}

/* covers: P03 P04 B0.1 B0.17 */
static void patterns_match_names_with_and_without_a_namespace_in_any_case(void **state) {
    struct conf *c = *state;
    register_one(c, "exact", 1, PATTERN_EXACT, "OrderCreated");
    register_one(c, "suffix", 1, PATTERN_SUFFIX, "OrderCreated");
    register_one(c, "glob", 1, PATTERN_GLOB, "*.order?reated");
    register_one(c, "regex", 1, PATTERN_REGEX, ".*Order(Created|Paid)");
    register_one(c, "nested", 1, PATTERN_SUFFIX, "Outer+Inner");
    const struct {
        const char *type, *wanted;
    } rows[] = {{"OrderCreated", "exact suffix regex"},
                {"MyApp.Events.ordercreated", "suffix glob regex"},
                {"ReOrderCreated", "regex"},
                {"ORDERPAID", "regex"},
                {"My.Outer+Inner", "nested"},
                {"My.OuterrInner", ""}};
    static const char *const names[] = {"exact", "suffix", "glob", "regex", "nested"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char found[100] = "";
        append(c, rows[i].type, EXPECT_ANY, rows[i].type, 1, 0);
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
            struct checkpoint_filter filter = {
                .stream = str_from(rows[i].type),
                .perspective = str_from(arena_printf(c->arena, "%s@1", names[n])),
                .status = -1,
                .limit = 10};
            struct checkpoint_views views;
            ok(c, EVENTS(c)->checkpoints_list(c->store, &filter, c->arena, &views, &c->err));
            if (views.count == 1) {
                strcat(found, found[0] != '\0' ? " " : "");
                strcat(found, names[n]);
            }
        }
        assert_string_equal(found, rows[i].wanted);
    }
}

/* covers: B0.17 */
static void bad_and_catastrophic_patterns_are_refused_at_registration(void **state) {
    struct conf *c = *state;
    const struct {
        enum pattern_mode mode;
        const char *text, *words;
    } rows[] = {{PATTERN_REGEX, "(a+)+b", "must not be repeated"},
                {PATTERN_REGEX, "(a*)*", "must not be repeated"},
                {PATTERN_REGEX, "a{1,5000}", "count"},
                {PATTERN_REGEX, "(?=x)", "subset"},
                {PATTERN_REGEX, "(a)\\1", "backslash"},
                {PATTERN_REGEX, "\\w+", "backslash"},
                {PATTERN_REGEX, "(a", "not closed"},
                {PATTERN_REGEX, "a||b", "empty"},
                {PATTERN_REGEX, "[z-a]", "class"},
                {PATTERN_REGEX, "*", "repeat"},
                {PATTERN_REGEX, "", "1 to 256"},
                {PATTERN_GLOB, "Bestell\xc3\xbcng", "ASCII"},
                {(enum pattern_mode)9, "a", "mode"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct event_pattern pattern = {rows[i].mode, str_from(rows[i].text)};
        struct perspective_new in = perspective_named("bad", 1, &pattern);
        struct perspective_registered out;
        expect(c, PAWL_INVALID, EVENTS(c)->perspective_register(c->store, &in, &out, &c->err));
        expect_error(c, rows[i].words);
    }
    struct event_pattern pattern = {PATTERN_EXACT, STR("a")};
    struct perspective_new in = perspective_named("a@b", 1, &pattern);
    struct perspective_registered out;
    expect(c, PAWL_INVALID, EVENTS(c)->perspective_register(c->store, &in, &out, &c->err));
    in = perspective_named("sql", 1, &pattern);
    in.run = RUN_SQL;
    expect(c, PAWL_INVALID, EVENTS(c)->perspective_register(c->store, &in, &out, &c->err));
    expect_error(c, "target is missing");
}

static void streams_that_were_there_are_filled_in_and_replayed(void **state) {
    struct conf *c = *state;
    for (int i = 0; i < 5; i++)
        append(c, arena_printf(c->arena, "order-%d", i), EXPECT_ANY, i == 3 ? "Other" : "Created", 2, 0);
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    assert_int_equal(checkpoint_count(c, "orders@1"), 4);
    assert_int_equal(checkpoint_of(c, "order-0", "orders@1").replay_to, 2);
    append(c, "order-0", EXPECT_ANY, "Created", 1, 0);
    struct checkpoint_grants granted = grants(c, 1, "order-0", "orders@1", NULL);
    assert_int_equal(granted.count, 1);
    struct seen seen = {0};
    assert_int_equal(apply_one(c, "orders@1", granted.grants[0].token, "order-0", 0, &seen).version, 3);
    assert_string_equal(seen.text, "1:Created(replay) 2:Created(replay) 3:Created");
    assert_true(perspective_of(c, "orders", 1).backfilled);
}

/* covers: P06 P10 P13 P15 P17 P18 P20 P21 P43 B0.2 B0.7 B0.9 */
static void events_behind_a_completed_checkpoint_make_it_pending_again(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 3, 1);
    struct checkpoint_grants granted = grants(c, 1, "order-1", "orders@1", NULL);
    assert_int_equal(granted.count, 1);
    struct checkpoint_grant grant = granted.grants[0];
    assert_int_equal(grant.version, 0);
    assert_int_equal(grant.head, 3);
    assert_int_equal(grant.attempt, 1);
    assert_int_equal(grant.lease_until_ms, c->now_ms + LEASE_MS);
    struct checkpoint_view held = checkpoint_of(c, "order-1", "orders@1");
    assert_int_equal(held.status, CHECKPOINT_PROCESSING);
    assert_true(uuid_equal(held.instance, instance_id(1)));
    struct seen seen = {0};
    struct apply_item item = apply_one(c, "orders@1", grant.token, "order-1", 2, &seen);
    assert_int_equal(item.answer, ANSWER_APPLIED);
    assert_int_equal(item.version, 2);
    assert_true(item.more);
    item = apply_one(c, "orders@1", grant.token, "order-1", 2, &seen);
    assert_int_equal(item.version, 3);
    assert_false(item.more);
    assert_string_equal(seen.text, "1:Created 2:Created 3:Created");
    struct checkpoint_view done = checkpoint_of(c, "order-1", "orders@1");
    assert_int_equal(done.status, CHECKPOINT_COMPLETED);
    assert_true(uuid_is_nil(done.instance));
    assert_int_equal(done.lease_until_ms, 0);
    append(c, "order-1", EXPECT_ANY, "Created", 1, 4);
    assert_int_equal(checkpoint_of(c, "order-1", "orders@1").status, CHECKPOINT_PENDING);
    granted = grants(c, 1, "order-1", "orders@1", NULL);
    assert_int_equal(granted.count, 1);
    assert_int_equal(granted.grants[0].version, 3);
    assert_true(granted.grants[0].token > grant.token);
}

/* covers: P12 P14 B0.5 B0.10 BX.7 */
static void a_late_worker_changes_nothing(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    join(c, 2, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 2, 1);
    struct checkpoint_grant old = grants(c, 1, "order-1", "orders@1", NULL).grants[0];
    struct checkpoint_grants held = grants(c, 2, "order-1", "orders@1", NULL);
    assert_int_equal(held.count, 0);
    assert_int_equal(held.busy_count, 0); /* whoever holds it sees what has come */
    assert_int_equal(grants(c, 2, NULL, "orders@1", NULL).count, 0);
    advance(c, LEASE_MS - 1);
    struct checkpoint_ref ref = {old.stream, old.perspective, old.token};
    struct checkpoints_renew renew = {instance_id(1), &ref, 1, LEASE_MS};
    struct answer_list answers;
    ok(c, EVENTS(c)->checkpoints_renew(c->store, &renew, c->arena, &answers, &c->err));
    assert_int_equal(answers.answers[0], ANSWER_APPLIED);
    advance(c, LEASE_MS - 1);
    assert_int_equal(grants(c, 2, NULL, "orders@1", NULL).count, 0);
    advance(c, 1);
    struct checkpoint_grants taken = grants(c, 2, NULL, "orders@1", NULL);
    assert_int_equal(taken.count, 1);
    struct seen seen = {0};
    assert_int_equal(apply_one(c, "orders@1", old.token, "order-1", 0, &seen).answer, ANSWER_STALE);
    assert_int_equal(seen.calls, 0);
    assert_int_equal(report_at(c, &old, 2, CHECKPOINT_COMPLETED, NULL), ANSWER_STALE);
    ok(c, EVENTS(c)->checkpoints_renew(c->store, &renew, c->arena, &answers, &c->err));
    assert_int_equal(answers.answers[0], ANSWER_STALE);
    struct checkpoint_batch batch;
    expect(c, PAWL_STALE, EVENTS(c)->checkpoint_events(c->store, &ref, 10, c->arena, &batch, &c->err));
    assert_int_equal(apply_one(c, "orders@1", taken.grants[0].token, "order-1", 0, &seen).answer,
                     ANSWER_APPLIED);
    assert_int_equal(report_at(c, &old, 2, CHECKPOINT_COMPLETED, NULL), ANSWER_STALE);
    assert_int_equal(checkpoint_of(c, "order-1", "orders@1").version, 2);
}

/* The wake-ups of a stream go by its partition: each instance gets those of its own lanes.
 * covers: B0.18 */
static void wake_ups_are_shared_out_by_partition(void **state) {
    struct conf *c = *state;
    enum { STREAMS = 24 };
    bool seen[STREAMS] = {false};
    int got[3] = {0};
    join(c, 1, KIND_BITS_ALL);
    join(c, 2, KIND_BITS_ALL);
    beat(c, 1);
    beat(c, 2);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    for (int i = 0; i < STREAMS; i++) {
        char stream[16];
        snprintf(stream, sizeof stream, "order-%d", i);
        append(c, stream, EXPECT_ANY, "Created", 1, 0);
    }
    for (int n = 1; n <= 2; n++) {
        struct item_list mine = claim(c, n, KIND_PERSPECTIVE, 100);
        for (size_t i = 0; i < mine.count; i++) {
            int number = atoi(mine.items[i].stream.ptr + strlen("order-"));
            assert_false(seen[number]);
            seen[number] = true;
            got[n]++;
        }
    }
    assert_int_equal(got[1] + got[2], STREAMS);
    assert_true(got[1] > 0 && got[2] > 0);
}

/* covers: B0.13 P27 */
static void nobody_gets_what_he_cannot_run_and_nothing_is_lost(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    join(c, 2, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    register_one(c, "totals", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 1, 1);
    struct seen seen = {0};
    struct checkpoint_grants both = grants(c, 1, "order-1", "orders@1", "totals@1");
    assert_int_equal(both.count, 2);
    apply_one(c, "orders@1", both.grants[0].token, "order-1", 0, &seen);
    apply_one(c, "totals@1", both.grants[0].token, "order-1", 0, &seen);
    append(c, "order-1", EXPECT_ANY, "Created", 1, 2);
    struct checkpoint_grants mine = grants(c, 1, "order-1", "orders@1", NULL);
    assert_int_equal(mine.count, 1);
    assert_int_equal(mine.busy_count, 0);
    /* The other one was written down as pending: who can run it finds it without the message. */
    assert_int_equal(grants(c, 1, NULL, "orders@1", NULL).count, 0);
    struct checkpoint_grants other = grants(c, 2, NULL, "totals@1", NULL);
    assert_int_equal(other.count, 1);
    assert_true(str_equal(other.grants[0].perspective, STR("totals@1")));
    assert_int_equal(other.grants[0].version, 1);
}

/* covers: P22 P23 P24 P25 P26 B0.4 B0.14 B0.11 */
static void a_failing_event_stops_its_stream_only_with_backoff_and_error(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    append(c, "bad", EXPECT_ANY, "Created", 3, 1);
    append(c, "good", EXPECT_ANY, "Created", 3, 4);
    struct checkpoint_grants granted = grants(c, 1, NULL, "orders@1", NULL);
    assert_int_equal(granted.count, 2);
    struct seen seen = {.fails_at = 2};
    struct apply_item item = apply_one(c, "orders@1", granted.grants[0].token, "bad", 0, &seen);
    assert_int_equal(item.answer, ANSWER_INVALID);
    assert_int_equal(item.outcome, FAIL_RETRY);
    assert_int_equal(item.version, 1); /* what came before is kept */
    assert_int_equal(item.failed_version, 2);
    assert_true(str_equal(item.error, STR("cannot apply version 2")));
    assert_string_equal(seen.text, "1:Created");
    struct seen fine = {0};
    assert_int_equal(apply_one(c, "orders@1", granted.grants[0].token, "good", 0, &fine).version, 3);
    struct checkpoint_view failed = checkpoint_of(c, "bad", "orders@1");
    assert_int_equal(failed.status, CHECKPOINT_FAILED);
    assert_int_equal(failed.version, 1);
    assert_int_equal(failed.attempts, 1);
    assert_true(failed.next_ms > c->now_ms && failed.next_ms <= c->now_ms + 1000);
    assert_true(str_equal(failed.error, STR("cannot apply version 2")));
    assert_int_equal(failed.failed_version, 2);
    assert_int_equal(grants(c, 1, NULL, "orders@1", NULL).count, 0); /* no hot loop */
    assert_int_equal(grants(c, 1, "bad", "orders@1", NULL).count, 0);
    for (int attempt = 2; attempt <= 5; attempt++) {
        advance(c, 60000);
        granted = grants(c, 1, NULL, "orders@1", NULL);
        assert_int_equal(granted.count, 1);
        assert_int_equal(granted.grants[0].attempt, attempt);
        item = apply_one(c, "orders@1", granted.grants[0].token, "bad", 0, &seen);
        assert_int_equal(item.outcome, attempt < 5 ? FAIL_RETRY : FAIL_DEAD);
    }
    assert_true(checkpoint_of(c, "bad", "orders@1").stopped);
    advance(c, 600000);
    assert_int_equal(grants(c, 1, NULL, "orders@1", NULL).count, 0);
    struct perspective_row row = perspective_of(c, "orders", 1);
    assert_int_equal(row.failed, 1);
    assert_int_equal(row.stopped, 1);
    assert_int_equal(row.completed, 1);
    assert_int_equal(row.checkpoints, 2);
    assert_int_equal(row.matched, 6);
    assert_int_equal(row.applied, 4);
    assert_int_equal(row.lag_events, 2);
    assert_int_equal(row.lag_ms, 840000);
}

/* covers: P62 P64 P65 */
static void failed_ones_are_listed_grouped_and_tried_again(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    for (int i = 1; i <= 3; i++)
        append(c, arena_printf(c->arena, "order-%d", i), EXPECT_ANY, "Created", 1, i);
    struct checkpoint_grants granted = grants(c, 1, NULL, "orders@1", NULL);
    assert_int_equal(granted.count, 3);
    assert_int_equal(report_at(c, &granted.grants[0], 0, CHECKPOINT_FAILED, "row 17 is missing"),
                     ANSWER_APPLIED);
    assert_int_equal(report_at(c, &granted.grants[1], 0, CHECKPOINT_FAILED, "row 18 is missing"),
                     ANSWER_APPLIED);
    assert_int_equal(report_at(c, &granted.grants[2], 0, CHECKPOINT_FAILED, "disk full"), ANSWER_APPLIED);
    struct checkpoint_errors errors;
    ok(c, EVENTS(c)->checkpoint_errors(c->store, STR("orders@1"), 10, c->arena, &errors, &c->err));
    assert_int_equal(errors.count, 2);
    assert_int_equal(errors.rows[0].count, 2);
    assert_true(str_equal(errors.rows[0].sample, STR("row 17 is missing")));
    struct checkpoint_filter filter = {.status = CHECKPOINT_FAILED, .limit = 2};
    struct checkpoint_views views;
    ok(c, EVENTS(c)->checkpoints_list(c->store, &filter, c->arena, &views, &c->err));
    assert_int_equal(views.count, 2);
    filter.after_stream = views.rows[1].stream;
    filter.after_perspective = views.rows[1].perspective;
    ok(c, EVENTS(c)->checkpoints_list(c->store, &filter, c->arena, &views, &c->err));
    assert_int_equal(views.count, 1);
    assert_true(str_equal(views.rows[0].error, STR("disk full")));
    pawl_str one = STR("order-1");
    struct perspective_reset reset = {
        .perspective = STR("orders@1"), .mode = RESET_FAILED, .streams = &one, .stream_count = 1};
    int64_t count = 0;
    ok(c, EVENTS(c)->perspective_reset(c->store, &reset, &count, &c->err));
    assert_int_equal(count, 1);
    reset.stream_count = 0;
    ok(c, EVENTS(c)->perspective_reset(c->store, &reset, &count, &c->err));
    assert_int_equal(count, 2);
    struct checkpoint_view view = checkpoint_of(c, "order-3", "orders@1");
    assert_int_equal(view.status, CHECKPOINT_PENDING);
    assert_true(str_absent(view.error));
    assert_int_equal(grants(c, 1, NULL, "orders@1", NULL).count, 3);
}

static void one_event_is_skipped_with_a_reason(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 3, 1);
    struct checkpoint_grant grant = grants(c, 1, NULL, "orders@1", NULL).grants[0];
    struct seen seen = {.fails_at = 2};
    apply_one(c, "orders@1", grant.token, "order-1", 0, &seen);
    struct checkpoint_skip skip = {STR("orders@1"), STR("order-1"), 2, STR("written by a bug")};
    enum store_answer answer;
    ok(c, EVENTS(c)->checkpoint_skip(c->store, &skip, &answer, &c->err));
    assert_int_equal(answer, ANSWER_APPLIED);
    ok(c, EVENTS(c)->checkpoint_skip(c->store, &skip, &answer, &c->err));
    assert_int_equal(answer, ANSWER_DUPLICATE);
    skip.version = 1;
    ok(c, EVENTS(c)->checkpoint_skip(c->store, &skip, &answer, &c->err));
    assert_int_equal(answer, ANSWER_CONFLICT); /* applied already */
    skip.version = 4;
    ok(c, EVENTS(c)->checkpoint_skip(c->store, &skip, &answer, &c->err));
    assert_int_equal(answer, ANSWER_CONFLICT);
    skip.stream = STR("order-2");
    ok(c, EVENTS(c)->checkpoint_skip(c->store, &skip, &answer, &c->err));
    assert_int_equal(answer, ANSWER_NOT_FOUND);
    skip.reason = STR(" ");
    expect(c, PAWL_INVALID, EVENTS(c)->checkpoint_skip(c->store, &skip, &answer, &c->err));
    grant = grants(c, 1, NULL, "orders@1", NULL).grants[0];
    assert_int_equal(apply_one(c, "orders@1", grant.token, "order-1", 0, &seen).version, 3);
    assert_string_equal(seen.text, "1:Created 3:Created");
    assert_int_equal(perspective_of(c, "orders", 1).lag_events, 0);
}

static void a_perspective_that_skips_goes_on_behind_the_last_attempt(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    struct event_pattern pattern = {PATTERN_EXACT, STR("Created")};
    struct perspective_new in = perspective_named("orders", 1, &pattern);
    in.policy = POLICY_SKIP;
    in.max_attempts = 1;
    struct perspective_registered registered;
    ok(c, EVENTS(c)->perspective_register(c->store, &in, &registered, &c->err));
    append(c, "order-1", EXPECT_ANY, "Created", 3, 1);
    struct seen seen = {.fails_at = 2};
    struct checkpoint_grant grant = grants(c, 1, "order-1", "orders@1", NULL).grants[0];
    assert_int_equal(apply_one(c, "orders@1", grant.token, "order-1", 0, &seen).outcome, FAIL_RETRY);
    assert_int_equal(checkpoint_of(c, "order-1", "orders@1").status, CHECKPOINT_PENDING);
    grant = grants(c, 1, NULL, "orders@1", NULL).grants[0];
    assert_int_equal(apply_one(c, "orders@1", grant.token, "order-1", 0, &seen).version, 3);
    assert_string_equal(seen.text, "1:Created 3:Created");
}

/* covers: P19 P50 B0.12 */
static void a_handler_outside_reads_its_batch_and_reports_it(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 2, 1);
    append(c, "order-1", EXPECT_ANY, "Other", 2, 3);
    struct checkpoint_grant grant = grants(c, 1, "order-1", "orders@1", NULL).grants[0];
    struct checkpoint_ref ref = {grant.stream, grant.perspective, grant.token};
    struct checkpoint_batch batch;
    ok(c, EVENTS(c)->checkpoint_events(c->store, &ref, 1, c->arena, &batch, &c->err));
    assert_int_equal(batch.list.count, 1);
    assert_int_equal(batch.through, 1);
    assert_true(batch.more);
    assert_int_equal(report_at(c, &grant, 1, CHECKPOINT_PROCESSING, NULL), ANSWER_APPLIED);
    ok(c, EVENTS(c)->checkpoint_events(c->store, &ref, 10, c->arena, &batch, &c->err));
    assert_int_equal(batch.list.count, 1);
    assert_int_equal(batch.list.events[0].version, 2);
    assert_int_equal(batch.through, 4); /* what does not match is passed over */
    assert_false(batch.more);
    append(c, "order-1", EXPECT_ANY, "Created", 1, 5);
    assert_int_equal(report_at(c, &grant, 9, CHECKPOINT_COMPLETED, NULL), ANSWER_CONFLICT);
    assert_int_equal(report_at(c, &grant, 4, CHECKPOINT_COMPLETED, NULL), ANSWER_APPLIED);
    assert_int_equal(report_at(c, &grant, 4, CHECKPOINT_COMPLETED, NULL), ANSWER_DUPLICATE);
    /* More had come meanwhile, so it is due again, without any message. */
    assert_int_equal(checkpoint_of(c, "order-1", "orders@1").status, CHECKPOINT_PENDING);
    struct checkpoint_grants again = grants(c, 1, NULL, "orders@1", NULL);
    assert_int_equal(again.count, 1);
    assert_int_equal(again.grants[0].version, 4);
    assert_int_equal(report_at(c, &again.grants[0], 4, CHECKPOINT_PENDING, NULL),
                     ANSWER_APPLIED); /* given back */
    assert_int_equal(grants(c, 1, NULL, "orders@1", NULL).count, 1);
}

static void an_evicted_holder_loses_its_checkpoints_at_once(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    join(c, 2, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 1, 1);
    assert_int_equal(grants(c, 1, NULL, "orders@1", NULL).count, 1);
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    assert_int_equal(grants(c, 2, NULL, "orders@1", NULL).count, 1);
    pawl_str key = STR("orders@1");
    struct checkpoints_claim in = {.instance = instance_id(1),
                                   .perspectives = &key,
                                   .perspective_count = 1,
                                   .max = 1,
                                   .lease_ms = LEASE_MS};
    struct checkpoint_grants out;
    expect(c, PAWL_STALE, EVENTS(c)->checkpoints_claim(c->store, &in, c->arena, &out, &c->err));
}

static void pausing_stops_claims_and_removing_stops_everything(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 1, 1);
    assert_int_equal(change(c, "orders@1", PERSPECTIVE_PAUSE), ANSWER_APPLIED);
    assert_int_equal(change(c, "orders@1", PERSPECTIVE_PAUSE), ANSWER_DUPLICATE);
    assert_int_equal(grants(c, 1, "order-1", "orders@1", NULL).count, 0);
    assert_int_equal(grants(c, 1, NULL, "orders@1", NULL).count, 0);
    assert_int_equal(change(c, "orders@1", PERSPECTIVE_RESUME), ANSWER_APPLIED);
    struct checkpoint_grants granted = grants(c, 1, NULL, "orders@1", NULL);
    assert_int_equal(granted.count, 1);
    assert_int_equal(change(c, "orders@1", PERSPECTIVE_REMOVE), ANSWER_APPLIED);
    assert_int_equal(change(c, "orders@1", PERSPECTIVE_REMOVE), ANSWER_DUPLICATE);
    assert_int_equal(change(c, "orders@1", PERSPECTIVE_PAUSE), ANSWER_NOT_FOUND);
    assert_int_equal(change(c, "nobody@1", PERSPECTIVE_PAUSE), ANSWER_NOT_FOUND);
    /* Its worker was running: it is told clearly, and nothing is skipped silently. */
    assert_int_equal(report_at(c, &granted.grants[0], 1, CHECKPOINT_COMPLETED, NULL), ANSWER_STALE);
    struct seen seen = {0};
    pawl_str stream = STR("order-1");
    struct perspective_apply in = {.perspective = STR("orders@1"),
                                   .token = granted.grants[0].token,
                                   .streams = &stream,
                                   .stream_count = 1,
                                   .function = see,
                                   .self = &seen};
    struct apply_result out;
    expect(c, PAWL_NOT_FOUND, EVENTS(c)->perspective_apply(c->store, &in, c->arena, &out, &c->err));
    expect_error(c, "not registered");
    append(c, "order-2", EXPECT_ANY, "Created", 1, 2);
    assert_int_equal(checkpoint_count(c, "orders@1"), 1);
    assert_int_equal(register_one(c, "orders", 1, PATTERN_EXACT, "Created").answer, ANSWER_APPLIED);
    assert_int_equal(checkpoint_count(c, "orders@1"), 2);
}

static void waiting_knows_versions_and_positions(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 1, 1);
    append(c, "order-2", EXPECT_ANY, "Other", 2, 2);
    append(c, "order-1", EXPECT_ANY, "Other", 1, 4);
    stamp(c);
    assert_false(reached(c, "orders", "order-1", 1));
    assert_false(reached(c, "orders", NULL, 1));
    assert_true(reached(c, "orders@1", "order-2", 2));  /* nothing there is for it */
    assert_false(reached(c, "orders@1", "order-2", 3)); /* not there yet */
    struct seen seen = {0};
    apply_one(c, "orders@1", grants(c, 1, NULL, "orders@1", NULL).grants[0].token, "order-1", 0, &seen);
    assert_true(reached(c, "orders", "order-1", 2));
    assert_true(reached(c, "orders", NULL, 4));
    assert_false(reached(c, "orders", NULL, 5));
    append(c, "order-3", EXPECT_ANY, "Created", 1, 5);
    stamp(c);
    struct checkpoint_grant grant = grants(c, 1, NULL, "orders@1", NULL).grants[0];
    report_at(c, &grant, 0, CHECKPOINT_FAILED, "no table");
    struct perspective_target in = {.perspective = STR("orders"), .position = 5};
    struct perspective_reached out;
    ok(c, EVENTS(c)->perspective_reached(c->store, &in, c->arena, &out, &c->err));
    assert_false(out.reached);
    assert_int_equal(out.at, 4);
    assert_true(out.failed);
    assert_true(str_equal(out.error, STR("no table")));
    in.perspective = STR("nobody");
    expect(c, PAWL_NOT_FOUND, EVENTS(c)->perspective_reached(c->store, &in, c->arena, &out, &c->err));
}

/* covers: P61 P63 B0.8 */
static void counts_by_perspective_and_status(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    for (int i = 1; i <= 4; i++)
        append(c, arena_printf(c->arena, "order-%d", i), EXPECT_ANY, "Created", 2, 0);
    struct perspective_row row = perspective_of(c, "orders", 1);
    assert_int_equal(row.pending, 4);
    assert_int_equal(row.matched, 8);
    assert_int_equal(row.pattern_count, 1);
    assert_true(str_equal(row.patterns[0].text, STR("Created")));
    assert_true(str_equal(row.key, STR("orders@1")));
    struct checkpoint_grants granted = grants(c, 1, NULL, "orders@1", NULL);
    struct seen seen = {0};
    apply_one(c, "orders@1", granted.grants[0].token, "order-1", 0, &seen);
    report_at(c, &granted.grants[1], 1, CHECKPOINT_FAILED, "no");
    report_at(c, &granted.grants[2], 1, CHECKPOINT_PENDING, NULL);
    row = perspective_of(c, "orders", 1);
    assert_int_equal(row.pending, 1);
    assert_int_equal(row.processing, 1);
    assert_int_equal(row.completed, 1);
    assert_int_equal(row.failed, 1);
    assert_int_equal(row.applied, 4);
    assert_int_equal(row.lag_events, 4);
}

static void several_streams_share_one_transaction_and_one_bad_one_does_not_stop_the_others(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    append(c, "a", EXPECT_ANY, "Created", 1, 1);
    append(c, "b", EXPECT_ANY, "Created", 3, 2);
    append(c, "d", EXPECT_ANY, "Created", 1, 5);
    struct checkpoint_grants granted = grants(c, 1, NULL, "orders@1", NULL);
    pawl_str streams[] = {STR("a"), STR("b"), STR("d"), STR("nobody")};
    struct seen seen = {.fails_at = 3};
    struct perspective_apply in = {.perspective = STR("orders@1"),
                                   .token = granted.grants[0].token,
                                   .streams = streams,
                                   .stream_count = 4,
                                   .function = see,
                                   .self = &seen};
    struct apply_result out;
    ok(c, EVENTS(c)->perspective_apply(c->store, &in, c->arena, &out, &c->err));
    assert_int_equal(out.items[0].answer, ANSWER_APPLIED);
    assert_int_equal(out.items[1].answer, ANSWER_INVALID);
    assert_int_equal(out.items[1].version, 2);
    assert_int_equal(out.items[2].answer, ANSWER_APPLIED);
    assert_int_equal(out.items[3].answer, ANSWER_STALE);
    assert_int_equal(checkpoint_of(c, "b", "orders@1").version, 2);
}

/* covers: P11 P16 */
static void the_oldest_comes_first_and_no_more_than_asked_for(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    append(c, "z", EXPECT_ANY, "Created", 1, 1);
    advance(c, 10);
    append(c, "y", EXPECT_ANY, "Created", 1, 2);
    append(c, "x", EXPECT_ANY, "Created", 1, 3);
    pawl_str key = STR("orders@1");
    struct checkpoints_claim in = {.instance = instance_id(1),
                                   .perspectives = &key,
                                   .perspective_count = 1,
                                   .max = 2,
                                   .lease_ms = LEASE_MS};
    struct checkpoint_grants out;
    ok(c, EVENTS(c)->checkpoints_claim(c->store, &in, c->arena, &out, &c->err));
    assert_int_equal(out.count, 2);
    assert_true(str_equal(out.grants[0].stream, STR("z")));
    assert_true(str_equal(out.grants[1].stream, STR("x"))); /* of the same age: by name */
    ok(c, EVENTS(c)->checkpoints_claim(c->store, &in, c->arena, &out, &c->err));
    assert_int_equal(out.count, 1);
    assert_true(str_equal(out.grants[0].stream, STR("y")));
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(the_oldest_comes_first_and_no_more_than_asked_for),
    CONF_TEST(the_first_matching_event_makes_the_checkpoint),
    CONF_TEST(patterns_match_names_with_and_without_a_namespace_in_any_case),
    CONF_TEST(bad_and_catastrophic_patterns_are_refused_at_registration),
    CONF_TEST(streams_that_were_there_are_filled_in_and_replayed),
    CONF_TEST(events_behind_a_completed_checkpoint_make_it_pending_again),
    CONF_TEST(a_late_worker_changes_nothing),
    CONF_TEST(wake_ups_are_shared_out_by_partition),
    CONF_TEST(nobody_gets_what_he_cannot_run_and_nothing_is_lost),
    CONF_TEST(a_failing_event_stops_its_stream_only_with_backoff_and_error),
    CONF_TEST(failed_ones_are_listed_grouped_and_tried_again),
    CONF_TEST(one_event_is_skipped_with_a_reason),
    CONF_TEST(a_perspective_that_skips_goes_on_behind_the_last_attempt),
    CONF_TEST(a_handler_outside_reads_its_batch_and_reports_it),
    CONF_TEST(an_evicted_holder_loses_its_checkpoints_at_once),
    CONF_TEST(pausing_stops_claims_and_removing_stops_everything),
    CONF_TEST(waiting_knows_versions_and_positions),
    CONF_TEST(counts_by_perspective_and_status),
    CONF_TEST(several_streams_share_one_transaction_and_one_bad_one_does_not_stop_the_others),
};

CONF_GROUP(perspective, tests);
