/* Views: lists, counts, and why a message is not running. */
#include "conformance/harness.h"

#include <string.h>

#include "base/buf.h"
#include "base/uuid.h"

enum { OUTBOX_BIT = KIND_BIT(KIND_OUTBOX) };

static struct message_filter any(void) { return (struct message_filter){.lane = -1, .limit = 100}; }

static const char *listed(struct conf *c, struct message_filter filter) {
    struct message_rows rows;
    ok(c, c->view->messages(c->store, &filter, c->arena, &rows, &c->err));
    struct item *items = arena_array(c->arena, rows.count, sizeof *items);
    for (size_t i = 0; i < rows.count; i++)
        items[i] = rows.rows[i].item;
    return numbers(c, (struct item_list){items, rows.count});
}

/* 1 dead, 2 scheduled with 3 behind it, 4 leased, 5 ready, 6 done; all on lanes of their own. */
static struct item_list one_of_each(struct conf *c) {
    struct settings_change change = settings_same();
    change.history_ms = 3600000;
    ok(c, c->core->settings_change(c->store, &change, &c->err));
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 1, 0));
    kill_message(c, 1, KIND_OUTBOX, 1, POLICY_SKIP);
    put_range(c, KIND_OUTBOX, 2, 3, stream_on(c, 2, 0));
    put(c, KIND_OUTBOX, 4, stream_on(c, 4, 0));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(fail_item(c, 1, item_of(c, held, 2), 60000), ANSWER_APPLIED);
    put(c, KIND_OUTBOX, 6, stream_on(c, 6, 0));
    complete_all(c, 1, claim(c, 1, KIND_OUTBOX, 10));
    put(c, KIND_OUTBOX, 5, stream_on(c, 5, 0));
    return held;
}

static void messages_are_listed_by_state(void **state) {
    struct conf *c = *state;
    one_of_each(c);
    static const struct {
        int state;
        const char *numbers;
    } wanted[] = {{STATE_READY, "5"}, {STATE_LEASED, "4"}, {STATE_SCHEDULED, "2"}, {STATE_BLOCKED, "3"},
                  {STATE_DEAD, "1"},  {STATE_DONE, "6"},   {0, "1 2 3 4 5"}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct message_filter filter = any();
        filter.state = wanted[i].state;
        assert_string_equal(listed(c, filter), wanted[i].numbers);
        filter.kind = KIND_OUTBOX;
        assert_string_equal(listed(c, filter), wanted[i].numbers);
        filter.kind = KIND_INBOX;
        assert_string_equal(listed(c, filter), "");
    }
}

static void filters_combine_and_pages_follow_the_seq(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    for (int n = 1; n <= 9; n++) {
        pawl_outgoing in = message_numbered(c, n, n % 3 == 0 ? STR("three") : STR("other"));
        in.type = n % 2 == 0 ? STR("Even") : STR("Odd");
        in.topic = n > 5 ? STR("late") : ABSENT;
        put_with(c, (struct messages_put){.kind = KIND_OUTBOX, .messages = &in, .count = 1});
    }
    struct message_filter filter = any();
    filter.stream = STR("three");
    assert_string_equal(listed(c, filter), "3 6 9");
    filter.type = STR("Odd");
    assert_string_equal(listed(c, filter), "3 9");
    filter.topic = STR("late");
    assert_string_equal(listed(c, filter), "9");
    filter = any();
    filter.lane = lane_of_stream(c, STR("three"));
    filter.stream = STR("three");
    assert_string_equal(listed(c, filter), "3 6 9");
    filter.lane = (filter.lane + 1) % c->lanes;
    assert_string_equal(listed(c, filter), "");
    filter = any();
    filter.limit = 4;
    assert_string_equal(listed(c, filter), "1 2 3 4");
    filter.after_seq = row_of(c, 4).item.seq;
    assert_string_equal(listed(c, filter), "5 6 7 8");
    filter.after_seq = row_of(c, 8).item.seq;
    assert_string_equal(listed(c, filter), "9");
}

/* Reads every page of a list that looks at few rows; the pages together are the list, in order. */
static const char *listed_in_pages(struct conf *c, struct message_filter filter, int *pages) {
    struct buf text;
    buf_init(&text, 4096);
    *pages = 0;
    do {
        struct message_rows rows;
        int64_t after = filter.after_seq;
        ok(c, c->view->messages(c->store, &filter, c->arena, &rows, &c->err));
        assert_true(rows.count <= (size_t)filter.limit);
        for (size_t i = 0; i < rows.count; i++) {
            assert_true(rows.rows[i].item.seq > after);
            after = rows.rows[i].item.seq;
            buf_printf(&text, "%s%d", text.len > 0 ? " " : "", id_number(rows.rows[i].item.id));
        }
        assert_true(rows.next_seq == 0 || rows.next_seq >= after);
        assert_true(rows.next_seq == 0 || rows.next_seq > filter.after_seq);
        filter.after_seq = rows.next_seq;
        ++*pages;
    } while (filter.after_seq != 0 && *pages < 1000);
    const char *copy = arena_printf(c->arena, "%.*s", (int)text.len, text.len > 0 ? text.ptr : "");
    buf_free(&text);
    return copy;
}

/* A page ends when enough rows were looked at, full or not, and says where to go on: no row is lost, none
 * comes twice. */
static void a_page_looks_at_so_many_rows(void **state) {
    struct conf *c = *state;
    int pages = 0;
    join(c, 1, OUTBOX_BIT);
    for (int n = 1; n <= 40; n++) {
        pawl_outgoing in = message_numbered(c, n, n % 2 == 0 ? STR("even") : ABSENT);
        in.type = n % 13 == 0 ? STR("Rare") : STR("Common");
        put_with(c, (struct messages_put){.kind = KIND_OUTBOX, .messages = &in, .count = 1});
    }
    for (int n = 1; n <= 9; n += 2)
        kill_message(c, 1, KIND_OUTBOX, n, POLICY_SKIP);
    struct message_filter filter = any();
    filter.type = STR("Rare");
    filter.scan_max = 4;
    assert_string_equal(listed_in_pages(c, filter, &pages), "13 26 39");
    assert_true(pages > 1);
    filter.scan_max = 0;
    assert_string_equal(listed_in_pages(c, filter, &pages), "13 26 39");
    assert_int_equal(pages, 1);
    filter.scan_max = 4;
    filter.type = STR("None");
    assert_string_equal(listed_in_pages(c, filter, &pages), "");
    assert_true(pages > 1);
    filter = any();
    filter.scan_max = 2;
    filter.stream = STR("even");
    filter.type = STR("Rare");
    assert_string_equal(listed_in_pages(c, filter, &pages), "26");
    filter = any();
    filter.scan_max = 2;
    filter.state = STATE_DEAD;
    filter.type = STR("Common");
    assert_string_equal(listed_in_pages(c, filter, &pages), "1 3 5 7 9");
    assert_true(pages > 1);
    filter.fingerprint = row_of(c, 1).fingerprint;
    assert_string_equal(listed_in_pages(c, filter, &pages), "1 3 5 7 9");
    filter = any();
    filter.limit = 7;
    filter.kind = KIND_OUTBOX;
    assert_string_equal(listed_in_pages(c, filter, &pages),
                        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 "
                        "32 33 34 35 36 37 38 39 40");
}

static void leased_ones_are_found_by_their_claims(void **state) {
    struct conf *c = *state;
    int pages = 0;
    join(c, 1, OUTBOX_BIT);
    for (int n = 1; n <= 20; n++)
        put(c, KIND_OUTBOX, n, STR("a"));
    claim(c, 1, KIND_OUTBOX, 6);
    struct message_filter filter = any();
    filter.state = STATE_LEASED;
    assert_string_equal(listed(c, filter), "1 2 3 4 5 6");
    filter.scan_max = 2;
    filter.type = STR("OrderCreated");
    assert_string_equal(listed_in_pages(c, filter, &pages), "1 2 3 4 5 6");
    filter.stream = STR("b");
    assert_string_equal(listed_in_pages(c, filter, &pages), "");
    filter = any();
    filter.state = STATE_READY;
    filter.scan_max = 2;
    assert_string_equal(listed_in_pages(c, filter, &pages), "7 8 9 10 11 12 13 14 15 16 17 18 19 20");
}

static void dead_and_done_are_found_by_their_end(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    kill_message(c, 1, KIND_OUTBOX, 1, POLICY_SKIP);
    advance(c, 1000);
    put(c, KIND_OUTBOX, 2, STR("a"));
    kill_message(c, 1, KIND_OUTBOX, 2, POLICY_SKIP);
    struct message_filter filter = any();
    filter.state = STATE_DEAD;
    filter.before_ms = c->now_ms;
    assert_string_equal(listed(c, filter), "1");
    filter.before_ms = c->now_ms + 1;
    assert_string_equal(listed(c, filter), "1 2");
    filter.fingerprint = row_of(c, 1).fingerprint;
    assert_string_equal(listed(c, filter), "1 2");
    filter.fingerprint = STR("no such fingerprint");
    assert_string_equal(listed(c, filter), "");
}

/* covers: B2.15 */
static void an_id_is_found_wherever_its_messages_are(void **state) {
    struct conf *c = *state;
    one_of_each(c);
    put(c, KIND_INBOX, 1, STR("z"));
    assert_int_equal(rows_with_id(c, 1), 2);
    assert_int_equal(rows_with_id(c, 99), 0);
    struct message_row row = row_of(c, 6);
    assert_int_equal(row.state, STATE_DONE);
    assert_int_equal(row.ended_ms, c->now_ms);
    assert_true(str_equal(row.item.type, STR("OrderCreated")));
}

static void counts_follow_what_happens(void **state) {
    struct conf *c = *state;
    one_of_each(c);
    struct counts all;
    ok(c, c->view->counts(c->store, &all, &c->err));
    assert_int_equal(all.now_ms, c->now_ms);
    struct kind_counts counts = all.kind[KIND_OUTBOX];
    assert_int_equal(counts.put, 6);
    assert_int_equal(counts.done, 1);
    assert_int_equal(counts.failed, 2);
    assert_int_equal(counts.aside, 2);
    assert_int_equal(counts.dead, 1);
    assert_int_equal(counts.leased, 1);
    assert_int_equal(counts.ready, 1);
    assert_int_equal(counts.claims_active, 1);
    assert_int_equal(counts.claims_overdue, 0);
    assert_int_equal(counts.lanes_free, 0);
    assert_int_equal(counts.oldest_ready_ms, c->now_ms);
    assert_true(counts.next_due_ms > c->now_ms); /* one waits for another attempt */
    assert_int_equal(all.kind[KIND_INBOX].next_due_ms, 0);
    assert_int_equal(all.kind[KIND_INBOX].put, 0);
    assert_int_equal(all.kind[KIND_INBOX].lanes_free, c->lanes);
    assert_int_equal(all.kind[KIND_INBOX].oldest_ready_ms, 0);
    advance(c, LEASE_MS);
    assert_int_equal(counted(c, KIND_OUTBOX).claims_overdue, 1);
}

/* covers: P60 */
static void what_is_left_is_known_wherever_it_is(void **state) {
    struct conf *c = *state;
    struct work_left left;
    join(c, 1, KIND_BITS_ALL);
    ok(c, store_left(c->store, KIND_BITS_ALL, ABSENT, c->arena, &left, &c->err));
    assert_int_equal(left.due, 0);
    put(c, KIND_OUTBOX, 1, STR("a"));
    put(c, KIND_OUTBOX, 2, STR("b"));
    ok(c, store_left(c->store, KIND_BITS_ALL, ABSENT, c->arena, &left, &c->err));
    assert_int_equal(left.due, 2);
    ok(c, store_left(c->store, KIND_BIT(KIND_INBOX), ABSENT, c->arena, &left, &c->err));
    assert_int_equal(left.due, 0); /* of other kinds */
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    struct fail_item failed = failure_of(item_of(c, held, 1), "no", 60000);
    struct messages_fail in = {instance_id(1), KIND_OUTBOX, &failed, 1};
    struct answer_list answers;
    ok(c, c->core->messages_fail(c->store, &in, c->arena, &answers, &c->err));
    ok(c, store_left(c->store, OUTBOX_BIT, ABSENT, c->arena, &left, &c->err));
    assert_int_equal(left.due, 1); /* in somebody's hands */
    assert_int_equal(left.later, 1);
    assert_int_equal(left.next_ms, 60000);
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    ok(c, store_left(c->store, OUTBOX_BIT, ABSENT, c->arena, &left, &c->err));
    assert_int_equal(left.due, 1); /* nobody's, and due */
}

static void instances_and_lanes_say_what_they_hold(void **state) {
    struct conf *c = *state;
    struct item_list held = one_of_each(c);
    struct instance_row row = instance_row(c, 1);
    assert_int_equal(row.claims, 1);
    assert_int_equal(row.in_flight, 1);
    assert_int_equal(row.lanes[KIND_OUTBOX], c->lanes);
    assert_int_equal(row.lanes[KIND_INBOX], 0);
    struct lane_rows lanes = lanes_listed(c, KIND_OUTBOX);
    for (size_t i = 0; i < lanes.count; i++) {
        assert_int_equal(lanes.rows[i].kind, KIND_OUTBOX);
        assert_int_equal(lanes.rows[i].lane, (int)i);
        assert_int_equal(lanes.rows[i].claims, i == 4);
        assert_int_equal(lanes.rows[i].holds, i == 2);
        assert_int_equal(lanes.rows[i].moves, 1);
        assert_false(lanes.rows[i].draining);
    }
    assert_int_equal(lanes.rows[4].token, item_of(c, held, 4)->token);
    assert_int_equal(lanes.rows[4].high, item_of(c, held, 4)->seq);
    assert_int_equal(lanes.rows[5].high, 0); /* 5 was not read yet */
    advance(c, 7000);
    assert_int_equal(instance_row(c, 1).beat_age_ms, 7000);
}

/* covers: M75 */
static void why_names_the_state_of_the_message(void **state) {
    struct conf *c = *state;
    struct item_list held = one_of_each(c);
    assert_int_equal(why_of(c, 1).cause, WHY_DEAD);
    struct why why = why_of(c, 2);
    assert_int_equal(why.cause, WHY_SCHEDULED);
    assert_int_equal(why.until_ms, c->now_ms + 60000);
    assert_int_equal(why.now_ms, c->now_ms);
    why = why_of(c, 3);
    assert_int_equal(why.cause, WHY_BEHIND);
    assert_true(uuid_equal(why.blocker_id, message_id(2)));
    assert_int_equal(why.blocker_seq, row_of(c, 2).item.seq);
    assert_int_equal(why.blocker_cause, WHY_SCHEDULED);
    why = why_of(c, 4);
    assert_int_equal(why.cause, WHY_RUNNING);
    assert_true(uuid_equal(why.instance, instance_id(1)));
    assert_int_equal(why.until_ms, item_of(c, held, 4)->lease_until_ms);
    why = why_of(c, 5);
    assert_int_equal(why.cause, WHY_READY);
    assert_true(uuid_equal(why.instance, instance_id(1)));
    assert_int_equal(why_of(c, 6).cause, WHY_DONE);
    advance(c, LEASE_MS);
    assert_int_equal(why_of(c, 4).cause, WHY_LEASE_OVER);
    struct why unknown;
    expect(c, PAWL_NOT_FOUND, c->view->why(c->store, message_id(99), c->arena, &unknown, &c->err));
}

static void why_says_when_too_many_messages_are_in_front(void **state) {
    struct conf *c = *state;
    enum { LAST = PAWL_WHY_AHEAD };
    pawl_str crowd = stream_on(c, 0, 0), other = stream_on(c, 0, 1);
    for (int n = 1; n <= LAST; n += PAWL_BATCH_MAX)
        put_range(c, KIND_OUTBOX, n, n + PAWL_BATCH_MAX - 1, crowd);
    put(c, KIND_OUTBOX, LAST + 1, other);
    struct why why = why_of(c, LAST + 1);
    assert_int_equal(why.cause, WHY_NO_OWNER);
    assert_false(why.many_ahead);
    put(c, KIND_OUTBOX, LAST + 2, other);
    why = why_of(c, LAST + 2);
    assert_int_equal(why.cause, WHY_NO_OWNER); /* the one in front was not looked at */
    assert_true(why.many_ahead);
    put(c, KIND_OUTBOX, LAST + 3, crowd);
    why = why_of(c, LAST + 3);
    assert_int_equal(why.cause, WHY_BEHIND);
    assert_true(uuid_equal(why.blocker_id, message_id(1)));
    assert_false(why.many_ahead);
    put(c, KIND_OUTBOX, LAST + 4, (pawl_str){NULL, 0});
    assert_false(why_of(c, LAST + 4).many_ahead);
}

/* covers: M75 */
static void why_names_the_owner_that_is_missing_silent_or_handing_over(void **state) {
    struct conf *c = *state;
    pawl_str stream = stream_on(c, c->lanes - 1, 0);
    put(c, KIND_OUTBOX, 1, stream);
    assert_int_equal(why_of(c, 1).cause, WHY_NO_OWNER);
    struct instance_new mortal = instance_named(1, OUTBOX_BIT);
    mortal.lease_ms = 15000;
    join_with(c, mortal);
    assert_int_equal(why_of(c, 1).cause, WHY_READY);
    advance(c, 15000);
    assert_int_equal(why_of(c, 1).cause, WHY_OWNER_SILENT);
    beat(c, 1);
    claim(c, 1, KIND_OUTBOX, 1);
    put(c, KIND_OUTBOX, 2, stream_on(c, c->lanes - 1, 1));
    for (int lane = 0; lane < c->lanes - 1; lane++)
        put(c, KIND_OUTBOX, 10 + lane, stream_on(c, lane, 0));
    claim(c, 1, KIND_OUTBOX, 1000); /* every lane is busy, so the surplus must drain */
    join(c, 2, OUTBOX_BIT);
    beat(c, 1);
    assert_int_equal(why_of(c, 2).cause, WHY_DRAINING);
    assert_int_equal(why_of(c, 1).cause, WHY_RUNNING);
}

static void why_names_suspects_and_blocked_streams(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, stream_on(c, 1, 0));
    kill_message(c, 1, KIND_OUTBOX, 1, POLICY_BLOCK);
    struct why why = why_of(c, 2);
    assert_int_equal(why.cause, WHY_BLOCKED);
    assert_true(uuid_equal(why.blocker_id, message_id(1)));
    put(c, KIND_OUTBOX, 3, stream_on(c, 3, 0));
    put(c, KIND_OUTBOX, 4, stream_on(c, 3, 1));
    claim(c, 1, KIND_OUTBOX, 10);
    advance(c, LEASE_MS);
    beat(c, 1); /* both are lost, and 3 was the first that can have begun */
    assert_int_equal(why_of(c, 3).cause, WHY_SUSPECT);
    assert_int_equal(why_of(c, 4).cause, WHY_READY);
}

static void why_names_the_first_unfinished_message_of_the_stream(void **state) {
    struct conf *c = *state;
    pawl_str stream = stream_on(c, 1, 0);
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 4, stream);
    struct why why = why_of(c, 3);
    assert_int_equal(why.cause, WHY_BEHIND); /* behind one that nobody has read yet */
    assert_true(uuid_equal(why.blocker_id, message_id(1)));
    assert_int_equal(why.blocker_cause, WHY_READY);
    struct item_list held = claim(c, 1, KIND_OUTBOX, 2);
    why = why_of(c, 3);
    assert_int_equal(why.cause, WHY_BEHIND); /* behind one in flight */
    assert_true(uuid_equal(why.blocker_id, message_id(1)));
    assert_int_equal(why.blocker_cause, WHY_RUNNING);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_APPLIED);
    assert_true(uuid_equal(why_of(c, 4).blocker_id, message_id(2)));
    assert_int_equal(complete(c, 1, &held.items[1]), ANSWER_APPLIED);
    assert_int_equal(why_of(c, 3).cause, WHY_READY);
    assert_true(uuid_equal(why_of(c, 4).blocker_id, message_id(3)));
}

static void the_first_unfinished_message_of_an_id_is_explained(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 1, 0));
    kill_message(c, 1, KIND_OUTBOX, 1, POLICY_SKIP);
    put(c, KIND_OUTBOX, 1, stream_on(c, 1, 0));
    assert_int_equal(why_of(c, 1).cause, WHY_READY);
}

static void dead_letters_are_grouped_by_fingerprint(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT | KIND_BIT(KIND_INBOX));
    for (int n = 1; n <= 5; n++) {
        put(c, KIND_OUTBOX, n, stream_on(c, n, 0));
        struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
        /* Numbers do not make another error. */
        const char *text = n <= 3 ? arena_printf(c->arena, "order %d not found", 1000 + n) : "disk full";
        struct fail_item failure = failure_of(&held.items[0], text, 0);
        failure.error_class = CLASS_PERMANENT;
        assert_int_equal(fail_with(c, 1, KIND_OUTBOX, failure).outcome, FAIL_DEAD);
        advance(c, 10);
    }
    struct dead_groups groups;
    ok(c, c->view->dead_groups(c->store, KIND_OUTBOX, 10, c->arena, &groups, &c->err));
    assert_int_equal(groups.count, 2);
    assert_int_equal(groups.groups[0].count, 3); /* the biggest first */
    assert_non_null(strstr(groups.groups[0].sample_error.ptr, "not found"));
    assert_int_equal(groups.groups[0].first_ms, TEST_START_MS);
    assert_int_equal(groups.groups[0].last_ms, TEST_START_MS + 20);
    assert_int_equal(groups.groups[1].count, 2);
    assert_true(str_equal(groups.groups[1].fingerprint, row_of(c, 5).fingerprint));
    ok(c, c->view->dead_groups(c->store, KIND_OUTBOX, 1, c->arena, &groups, &c->err));
    assert_int_equal(groups.count, 1);
    ok(c, c->view->dead_groups(c->store, KIND_INBOX, 10, c->arena, &groups, &c->err));
    assert_int_equal(groups.count, 0);
}

static void ids_are_found_by_their_range(void **state) {
    struct conf *c = *state;
    one_of_each(c);
    put(c, KIND_OUTBOX, 4, stream_on(c, 4, 0)); /* the same id once more counts once */
    struct uuid_list found;
    ok(c, c->view->message_ids(c->store, message_id(1), message_id(6), 10, c->arena, &found, &c->err));
    assert_int_equal(found.count, 6); /* dead, aside, leased, ready and done */
    for (size_t i = 0; i < found.count; i++)
        assert_true(uuid_equal(found.ids[i], message_id((int)i + 1)));
    ok(c, c->view->message_ids(c->store, message_id(3), message_id(6), 2, c->arena, &found, &c->err));
    assert_int_equal(found.count, 2);
    assert_true(uuid_equal(found.ids[1], message_id(4)));
    ok(c, c->view->message_ids(c->store, message_id(7), message_id(9), 2, c->arena, &found, &c->err));
    assert_int_equal(found.count, 0);
    assert_int_equal(
        c->view->message_ids(c->store, message_id(1), message_id(6), 0, c->arena, &found, &c->err),
        PAWL_INVALID);
}

static void the_dump_tells_the_state_and_no_surrogate_number(void **state) {
    struct conf *c = *state;
    one_of_each(c);
    const char *text = state_text(c);
    static const char *const lines[] = {
        "settings partitions=", "instance id=",  "lane kind=1 ", "message kind=1 ", "aside kind=1 ",
        "hold kind=1 ",         "claim kind=1 ", "dead kind=1 ", "tally kind=3 ",   "history kind=1 "};
    const char *from = text;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        from = strstr(from, lines[i]);
        assert_non_null(from); /* the sections are there, in this order */
    }
    assert_null(strstr(text, "seq="));
    assert_null(strstr(text, "token="));
}

static void ailments_are_those_of_the_place_not_of_the_work(void **state) {
    struct conf *c = *state;
    struct violations before, after;
    ok(c, c->view->problems(c->store, c->arena, &before, &c->err));
    one_of_each(c);
    ok(c, c->view->problems(c->store, c->arena, &after, &c->err));
    assert_int_equal(before.count, after.count);
    for (size_t i = 0; i < after.count; i++) {
        assert_true(str_equal(before.rows[i].invariant, after.rows[i].invariant));
        assert_true(after.rows[i].detail.len > 0);
    }
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(ailments_are_those_of_the_place_not_of_the_work),
    CONF_TEST(messages_are_listed_by_state),
    CONF_TEST(filters_combine_and_pages_follow_the_seq),
    CONF_TEST(a_page_looks_at_so_many_rows),
    CONF_TEST(leased_ones_are_found_by_their_claims),
    CONF_TEST(dead_and_done_are_found_by_their_end),
    CONF_TEST(an_id_is_found_wherever_its_messages_are),
    CONF_TEST(counts_follow_what_happens),
    CONF_TEST(what_is_left_is_known_wherever_it_is),
    CONF_TEST(instances_and_lanes_say_what_they_hold),
    CONF_TEST(why_names_the_state_of_the_message),
    CONF_TEST(why_names_the_owner_that_is_missing_silent_or_handing_over),
    CONF_TEST(why_names_suspects_and_blocked_streams),
    CONF_TEST(why_names_the_first_unfinished_message_of_the_stream),
    CONF_TEST(why_says_when_too_many_messages_are_in_front),
    CONF_TEST(the_first_unfinished_message_of_an_id_is_explained),
    CONF_TEST(dead_letters_are_grouped_by_fingerprint),
    CONF_TEST(ids_are_found_by_their_range),
    CONF_TEST(the_dump_tells_the_state_and_no_surrogate_number),
};

CONF_GROUP(view, tests);
