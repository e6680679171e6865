/* Expiry and eviction: claims that end without a report, and what happens to their messages. */
#include "base/limits.h"
#include "conformance/harness.h"

enum { OUTBOX_BIT = KIND_BIT(KIND_OUTBOX) };

/* An instance that says how many messages it works on at once. */
static void join_slots(struct conf *c, int n, int slots) {
    struct instance_new in = instance_named(n, OUTBOX_BIT);
    in.slots = slots;
    join_with(c, in);
}

static void evict(struct conf *c, int n) {
    ok(c, c->core->instance_evict(c->store, instance_id(n), &c->err));
}

static int suspects_among(struct item_list list) {
    int suspects = 0;
    for (size_t i = 0; i < list.count; i++)
        suspects += list.items[i].suspect;
    return suspects;
}

/* covers: M55 M43 M45 M46 W33 B2.7 */
static void InstanceCrashes_MessagesReclaimedAfterLeaseExpiry(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    join(c, 2, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, stream_on(c, 0, 0));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, held), "1 2");
    /* The owner counts as live for long yet: that its lease on the messages is over is enough to lose them.
     */
    advance(c, LEASE_MS - 1);
    beat(c, 2);
    assert_int_equal(claim(c, 2, KIND_OUTBOX, 10).count, 0);
    advance(c, 1);
    assert_int_equal(claim(c, 2, KIND_OUTBOX, 10).count, 0); /* a claim looks at its own lanes only */
    assert_true(uuid_equal(lanes_listed(c, KIND_OUTBOX).rows[0].owner, instance_id(1)));
    beat(c, 2); /* this call ends the claim and takes the lane */
    assert_true(uuid_equal(lanes_listed(c, KIND_OUTBOX).rows[0].owner, instance_id(2)));
    struct item_list again = claim(c, 2, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1");
    assert_true(again.items[0].token > held.items[0].token);
    assert_int_equal(again.items[0].lease_until_ms, c->now_ms + LEASE_MS);
    assert_int_equal(again.items[0].deaths, 0); /* that it was in those hands costs it nothing */
    assert_int_equal(again.items[0].attempt, 1);
    assert_true(again.items[0].suspect);
    assert_true(uuid_equal(row_of(c, 1).claimed_by, instance_id(2)));
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_STALE); /* the crashed one comes back too late */
    complete_all(c, 2, again);
    struct item_list second = claim(c, 2, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, second), "2");
    complete_all(c, 2, second);
}

static void an_owner_takes_its_own_expired_claims_back_and_keeps_the_lane(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    advance(c, LEASE_MS);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1");
    assert_int_equal(count_owned(c, KIND_OUTBOX, 1), c->lanes);
    assert_int_equal(complete(c, 1, &held.items[0]), ANSWER_STALE);
    assert_int_equal(complete(c, 1, &again.items[0]), ANSWER_APPLIED);
}

static void suspects_run_alone_and_one_at_a_time(void **state) {
    struct conf *c = *state;
    join_slots(c, 1, 4);
    for (int n = 1; n <= 3; n++)
        put(c, KIND_OUTBOX, n, stream_on(c, 0, n));
    put(c, KIND_OUTBOX, 9, stream_on(c, 1, 0));
    assert_string_equal(numbers_sorted(c, claim(c, 1, KIND_OUTBOX, 10)), "1 2 3 9");
    advance(c, LEASE_MS);
    for (int n = 0; n < 4; n++) {
        struct item_list alone = claim(c, 1, KIND_OUTBOX, 10);
        assert_int_equal(alone.count, 1);
        assert_true(alone.items[0].suspect);
        assert_int_equal(alone.items[0].deaths, 0);
        advance(c, 1000);
        assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0); /* it has a suspect already */
        complete_all(c, 1, alone);
    }
    assert_int_equal(counted(c, KIND_OUTBOX).done, 4);
}

/* It occupies its stream, not its lane. */
static void other_streams_of_the_lane_go_on_beside_a_suspect(void **state) {
    struct conf *c = *state;
    join_slots(c, 1, 1);
    join_slots(c, 2, 2);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 1));
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 1);
    evict(c, 1);
    beat(c, 2);
    struct item_list alone = claim(c, 2, KIND_OUTBOX, 10);
    assert_int_equal(suspects_among(alone), 1);
    put(c, KIND_OUTBOX, 2, stream_on(c, 0, 1));
    put(c, KIND_OUTBOX, 3, stream_on(c, 0, 2));
    struct item_list others = claim(c, 2, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, others), "3");
    put(c, KIND_OUTBOX, 4, stream_on(c, 0, 3));
    assert_int_equal(claim(c, 2, KIND_OUTBOX, 10).count, 0); /* both slots are taken, and the lane is busy */
    complete_all(c, 2, others);
    complete_all(c, 2, alone);
    assert_string_equal(numbers(c, claim(c, 2, KIND_OUTBOX, 10)), "2");
}

/* Handlers start in the order of the grant: only what the slots could hold is suspect, and suspicion is free.
 */
/* covers: B2.8 */
static void what_never_began_is_neither_charged_nor_slowed_down(void **state) {
    struct conf *c = *state;
    enum { MANY = 300 };
    struct messages_claim in = claim_of(1, KIND_OUTBOX, MANY);
    in.max_attempts = 1;
    join_slots(c, 1, 1);
    for (int n = 1; n <= MANY; n++)
        put(c, KIND_OUTBOX, n, stream_on(c, n % c->lanes, n));
    assert_int_equal(claim_with(c, in).count, MANY);
    evict(c, 1);
    assert_int_equal(counted(c, KIND_OUTBOX).dead, 0);
    join_slots(c, 2, 1);
    int suspects = 0, calls = 0;
    for (; counted(c, KIND_OUTBOX).done < MANY && calls < 20; calls++) {
        in.instance = instance_id(2);
        struct item_list list = claim_with(c, in);
        assert_true(list.count <= PAWL_LOST_TOGETHER_MAX + 1);
        for (size_t i = 0; i < list.count; i++) {
            assert_int_equal(list.items[i].attempt, 1);
            assert_int_equal(list.items[i].deaths, 0);
        }
        suspects += suspects_among(list);
        complete_all(c, 2, list);
    }
    assert_int_equal(counted(c, KIND_OUTBOX).done, MANY);
    assert_int_equal(counted(c, KIND_OUTBOX).dead, 0);
    assert_int_equal(suspects, 1);
    assert_true(calls <= MANY / PAWL_LOST_TOGETHER_MAX + 1);
}

/* What may have begun is judged by what its own holder had. */
static void two_that_lose_their_work_at_once_leave_a_suspect_each(void **state) {
    struct conf *c = *state;
    join_slots(c, 1, 1);
    join_slots(c, 2, 1);
    beat(c, 1);
    beat(c, 2);
    for (int lane = 0; lane < c->lanes; lane++)
        put(c, KIND_OUTBOX, lane + 1, stream_on(c, lane, 0));
    assert_true(claim(c, 1, KIND_OUTBOX, 100).count > 1);
    assert_true(claim(c, 2, KIND_OUTBOX, 100).count > 1);
    advance(c, LEASE_MS);
    join_slots(c, 3, 1); /* ends the claims of both */
    evict(c, 1);
    evict(c, 2);
    beat(c, 3);
    int suspects = 0;
    for (int calls = 0; counted(c, KIND_OUTBOX).done < c->lanes && calls < 20; calls++) {
        struct item_list list = claim(c, 3, KIND_OUTBOX, 100);
        suspects += suspects_among(list);
        complete_all(c, 3, list);
    }
    assert_int_equal(counted(c, KIND_OUTBOX).done, c->lanes);
    assert_int_equal(suspects, 2);
}

static void at_most_so_many_lost_messages_are_in_one_hand(void **state) {
    struct conf *c = *state;
    enum { MANY = PAWL_LOST_TOGETHER_MAX + 20 };
    join_slots(c, 1, 1);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    for (int n = 2; n <= MANY; n++)
        put(c, KIND_OUTBOX, n, stream_on(c, 1 + n % (c->lanes - 1), n));
    assert_int_equal(claim(c, 1, KIND_OUTBOX, MANY).count, MANY);
    evict(c, 1);
    join_slots(c, 2, 1);
    struct item_list first = claim(c, 2, KIND_OUTBOX, MANY);
    assert_int_equal((int)first.count - suspects_among(first), PAWL_LOST_TOGETHER_MAX);
    advance(c, 1000);
    assert_int_equal(claim(c, 2, KIND_OUTBOX, MANY).count, 0);
    complete_all(c, 2, first);
    complete_all(c, 2, claim(c, 2, KIND_OUTBOX, MANY));
    assert_int_equal(counted(c, KIND_OUTBOX).done, MANY);
}

/* A worker may have begun more than it said, or in another order: who goes with a second one runs alone. */
static void what_is_lost_twice_is_a_suspect_wherever_it_was(void **state) {
    struct conf *c = *state;
    for (int n = 1; n <= 5; n++)
        put(c, KIND_OUTBOX, n, stream_on(c, 0, n));
    for (int worker = 1; worker <= 2; worker++) {
        join_slots(c, worker, 1);
        struct item_list list = claim(c, worker, KIND_OUTBOX, 10);
        assert_string_equal(numbers_sorted(c, list), "1 2 3 4 5");
        assert_int_equal(suspects_among(list), worker - 1);
        evict(c, worker);
    }
    join_slots(c, 3, 1);
    for (int n = 1; n <= 5; n++) {
        struct item_list list = claim(c, 3, KIND_OUTBOX, 10);
        assert_int_equal(list.count, 1);
        assert_int_equal(id_number(list.items[0].id), n);
        assert_true(list.items[0].suspect);
        assert_int_equal(list.items[0].deaths, 0); /* 1 was granted as a suspect, but had not begun */
        complete_all(c, 3, list);
    }
}

static void only_a_suspect_that_has_begun_is_charged(void **state) {
    struct conf *c = *state;
    put(c, KIND_OUTBOX, 1, STR("a"));
    for (int worker = 1; worker <= 4; worker++) {
        join_slots(c, worker, 2);
        struct item_list list = claim(c, worker, KIND_OUTBOX, 10);
        assert_int_equal(list.items[0].suspect, worker > 1);
        assert_int_equal(list.items[0].deaths, worker > 3);
        if (worker == 3) /* this one says that it begins */
            assert_int_equal(renew_item(c, worker, &list.items[0], LEASE_MS), ANSWER_APPLIED);
        evict(c, worker);
    }
    assert_int_equal(row_of(c, 1).item.deaths, 1);
}

static void a_suspect_that_fails_is_one_no_more(void **state) {
    struct conf *c = *state;
    join_slots(c, 1, 1);
    put(c, KIND_OUTBOX, 1, STR("a"));
    claim(c, 1, KIND_OUTBOX, 10);
    advance(c, LEASE_MS);
    struct item_list alone = claim(c, 1, KIND_OUTBOX, 10);
    assert_true(alone.items[0].suspect);
    assert_int_equal(fail_item(c, 1, &alone.items[0], 0), ANSWER_APPLIED);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_false(again.items[0].suspect);
    assert_int_equal(again.items[0].attempt, 2);
}

/* Who does not say its slots gets a suspect as all that it has, and is taken to have begun with it. */
static void an_instance_that_does_not_say_its_slots_gets_a_suspect_by_itself(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    put(c, KIND_OUTBOX, 2, stream_on(c, 0, 1));
    claim(c, 1, KIND_OUTBOX, 10);
    advance(c, LEASE_MS);
    put(c, KIND_OUTBOX, 3, stream_on(c, 4, 0));
    struct item_list third = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, third), "3"); /* its lane comes first, and ends the call */
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
    complete_all(c, 1, third);
    struct item_list alone = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, alone), "1");
    assert_true(alone.items[0].suspect);
    evict(c, 1);
    assert_int_equal(row_of(c, 1).item.deaths, 1);
    assert_int_equal(row_of(c, 2).item.deaths, 0);
}

/* covers: B2.8 */
static void who_does_not_say_its_slots_is_not_given_a_suspect_beside_other_work(void **state) {
    struct conf *c = *state;
    enum { MANY = 40 };
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    claim(c, 1, KIND_OUTBOX, 10);
    evict(c, 1);
    join(c, 2, OUTBOX_BIT);
    for (int n = 2; n < 2 + MANY; n++)
        put(c, KIND_OUTBOX, n, stream_on(c, 1, n));
    struct messages_claim in = claim_of(2, KIND_OUTBOX, MANY);
    in.max_attempts = 1;
    in.one_lane = true;
    in.lane = 1;
    struct item_list many = claim_with(c, in);
    assert_int_equal(many.count, MANY);
    in = claim_of(2, KIND_OUTBOX, MANY);
    in.max_attempts = 1;
    assert_int_equal(claim_with(c, in).count, 0);
    evict(c, 2);
    assert_int_equal(counted(c, KIND_OUTBOX).dead, 0); /* nobody knows that any of them began */
    join(c, 3, OUTBOX_BIT);
    in.instance = instance_id(3);
    for (int calls = 0; calls < MANY && counted(c, KIND_OUTBOX).done < MANY + 1; calls++) {
        struct item_list list = claim_with(c, in);
        assert_true(suspects_among(list) == 0 || list.count == 1);
        complete_all(c, 3, list);
    }
    assert_int_equal(counted(c, KIND_OUTBOX).done, MANY + 1);
}

static void who_does_not_say_its_slots_gets_nothing_beside_a_suspect(void **state) {
    struct conf *c = *state;
    enum { BOTH = OUTBOX_BIT | KIND_BIT(KIND_INBOX) };
    join(c, 1, BOTH);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    claim(c, 1, KIND_OUTBOX, 10);
    evict(c, 1);
    join(c, 2, BOTH);
    put(c, KIND_INBOX, 2, stream_on(c, 1, 0));
    struct item_list inbox = claim(c, 2, KIND_INBOX, 10);
    put(c, KIND_OUTBOX, 3, stream_on(c, 2, 0));
    struct item_list outbox = claim(c, 2, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, outbox), "3"); /* what the inbox does holds up the suspect only */
    complete_all(c, 2, outbox);
    complete_all(c, 2, inbox);
    struct item_list alone = claim(c, 2, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, alone), "1");
    assert_true(alone.items[0].suspect);
    put(c, KIND_OUTBOX, 4, stream_on(c, 3, 0));
    put(c, KIND_INBOX, 5, stream_on(c, 3, 0));
    assert_int_equal(claim(c, 2, KIND_OUTBOX, 10).count, 0);
    struct messages_claim there = claim_of(2, KIND_OUTBOX, 10);
    there.one_lane = true;
    there.lane = 3;
    assert_int_equal(claim_with(c, there).count, 0);
    assert_int_equal(claim(c, 2, KIND_INBOX, 10).count, 0);
    complete_all(c, 2, alone);
    assert_int_equal(claim(c, 2, KIND_OUTBOX, 10).count, 1);
    assert_int_equal(claim(c, 2, KIND_INBOX, 10).count, 1);
}

static void another_instance_may_run_a_suspect_beside_it(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    join(c, 2, OUTBOX_BIT);
    for (int round = 0; round < 2; round++) {
        beat(c, 1);
        beat(c, 2);
    }
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    put(c, KIND_OUTBOX, 2, stream_on(c, c->lanes - 1, 0));
    claim(c, 1, KIND_OUTBOX, 10);
    claim(c, 2, KIND_OUTBOX, 10);
    advance(c, LEASE_MS);
    claim(c, 1, KIND_OUTBOX, 10); /* ends both claims; the lane of the other becomes free */
    beat(c, 2);
    assert_string_equal(numbers(c, claim(c, 2, KIND_OUTBOX, 10)), "2");
    assert_int_equal(row_of(c, 1).state, STATE_LEASED);
    assert_int_equal(row_of(c, 2).state, STATE_LEASED);
}

static void healthy_work_goes_on_beside_a_suspect(void **state) {
    struct conf *c = *state;
    join_slots(c, 1, 2);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    claim(c, 1, KIND_OUTBOX, 10);
    advance(c, LEASE_MS);
    put(c, KIND_OUTBOX, 2, stream_on(c, 4, 0));
    struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers_sorted(c, list), "1 2");
    assert_true(list.items[0].token != list.items[1].token);
}

/* A message that kills its worker ends as a dead letter; what was claimed with it does not. */
/* covers: B2.8 */
static void a_message_that_kills_its_worker_is_dead_lettered_and_its_mates_complete(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    for (int n = 1; n <= 5; n++)
        put(c, KIND_OUTBOX, n, stream_on(c, 0, n));
    int killed = 0;
    for (int round = 0; round < 60 && counted(c, KIND_OUTBOX).done + counted(c, KIND_OUTBOX).dead < 5;
         round++) {
        struct item_list list = claim(c, 1, KIND_OUTBOX, 10);
        bool poisoned = false;
        for (size_t i = 0; i < list.count; i++)
            poisoned = poisoned || id_number(list.items[i].id) == 3;
        if (poisoned) {
            killed++;
            advance(c, LEASE_MS); /* the worker is gone, with all it held */
        } else {
            complete_all(c, 1, list);
            advance(c, 1000);
        }
    }
    assert_int_equal(killed, 7); /* with the others, with half of them, and five times alone */
    struct message_row row = row_of(c, 3);
    assert_int_equal(row.state, STATE_DEAD);
    assert_int_equal(row.reason, DEAD_KILLED);
    assert_int_equal(row.item.deaths, 5);
    assert_int_equal(row.attempts, 0);
    assert_int_equal(counted(c, KIND_OUTBOX).done, 4);
    assert_int_equal(counted(c, KIND_OUTBOX).dead, 1);
}

static void deaths_and_attempts_count_together(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct messages_claim in = claim_of(1, KIND_OUTBOX, 10);
    in.max_attempts = 4;
    struct item_list list = claim_with(c, in);
    assert_int_equal(fail_item(c, 1, &list.items[0], 0), ANSWER_APPLIED);
    for (int lost = 0; lost < 2; lost++) { /* the second time as a suspect */
        list = claim_with(c, in);
        assert_int_equal(list.items[0].attempt, 2);
        advance(c, LEASE_MS);
    }
    list = claim_with(c, in);
    assert_int_equal(list.items[0].attempt, 3);
    assert_int_equal(list.items[0].deaths, 1);
    assert_int_equal(fail_item(c, 1, &list.items[0], -1), ANSWER_APPLIED);
    assert_in_range(row_of(c, 1).scheduled_ms - c->now_ms, 2000,
                    4000); /* as long as after any third attempt */
    advance(c, 4000);
    list = claim_with(c, in);
    struct fail_answer last = fail_with(c, 1, KIND_OUTBOX, failure_of(&list.items[0], "no", 0));
    assert_int_equal(last.outcome, FAIL_DEAD);
    assert_int_equal(row_of(c, 1).reason, DEAD_ATTEMPTS);
    assert_int_equal(row_of(c, 1).attempts, 3);
    assert_int_equal(row_of(c, 1).item.deaths, 1);
}

/* The successors of an unfinished message were held by the same worker, which may have died of them. */
static void successors_in_another_part_go_with_the_one_before_them(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(renew_item(c, 1, &held.items[1], 2 * LEASE_MS), ANSWER_APPLIED);
    advance(c, LEASE_MS);
    struct item_list again = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, again), "1");
    assert_int_equal(complete(c, 1, &held.items[1]), ANSWER_STALE);
    struct message_row row = row_of(c, 2);
    assert_int_equal(row.item.deaths, 0);
    assert_int_equal(row.reason, ASIDE_EXPIRED);
    assert_int_equal(row.state, STATE_BLOCKED);
    complete_all(c, 1, again);
    struct item_list last = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, last), "2");
    assert_int_equal(last.items[0].attempt, 1);
}

/* The stream 1 2 3 4 under one claim, with 2 and 4 in a part of their own; then its worker is put out. */
static void eviction_takes_every_part_of_a_stream_back(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 4, STR("a"));
    struct messages_claim in = claim_of(1, KIND_OUTBOX, 10);
    in.max_attempts = 1;
    struct item_list held = claim_with(c, in);
    struct item_ref two[] = {{held.items[1].token, held.items[1].id},
                             {held.items[3].token, held.items[3].id}};
    struct messages_renew renew = {instance_id(1), KIND_OUTBOX, two, 2, 2 * LEASE_MS};
    struct answer_list answers = {0};
    ok(c, c->core->messages_renew(c->store, &renew, c->arena, &answers, &c->err));
    evict(c, 1);
    for (size_t i = 0; i < held.count; i++) {
        assert_int_equal(complete(c, 1, &held.items[i]), ANSWER_STALE);
        assert_int_equal(row_of(c, (int)i + 1).item.deaths, 0);
        assert_int_equal(row_of(c, (int)i + 1).reason, ASIDE_EXPIRED);
    }
    join(c, 2, OUTBOX_BIT);
    struct item_list first = claim(c, 2, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, first), "1");
    complete_all(c, 2, first);
    assert_string_equal(numbers(c, claim(c, 2, KIND_OUTBOX, 10)), "2 3 4");
}

/* covers: B3.8 */
static void what_was_done_before_the_claim_expired_stays_a_duplicate(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    put(c, KIND_OUTBOX, 2, stream_on(c, 0, 1));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(complete(c, 1, item_of(c, held, 1)), ANSWER_APPLIED);
    advance(c, LEASE_MS);
    claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(complete(c, 1, item_of(c, held, 1)), ANSWER_DUPLICATE);
    assert_int_equal(complete(c, 1, item_of(c, held, 2)), ANSWER_STALE);
}

/* A claim that ended whole forgets its lists and answers duplicate to whatever it had: one that lost a part
 * must not. */
static void what_was_split_off_and_lost_is_stale_after_the_rest_is_done(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, stream_on(c, 0, 0));
    put(c, KIND_OUTBOX, 2, stream_on(c, 0, 1));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(renew_item(c, 1, item_of(c, held, 2), 1000), ANSWER_APPLIED);
    assert_int_equal(complete(c, 1, item_of(c, held, 1)), ANSWER_APPLIED);
    advance(c, 1000);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "2");
    assert_int_equal(complete(c, 1, item_of(c, held, 2)), ANSWER_STALE);
    assert_int_equal(complete(c, 1, item_of(c, held, 1)), ANSWER_DUPLICATE);
}

static void eviction_ends_claims_like_expiry_but_at_once(void **state) {
    struct conf *c = *state;
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 2);
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    for (size_t i = 0; i < held.count; i++) {
        assert_int_equal(complete(c, 1, &held.items[i]), ANSWER_STALE);
        assert_int_equal(renew_item(c, 1, &held.items[i], LEASE_MS), ANSWER_STALE);
        assert_int_equal(row_of(c, id_number(held.items[i].id)).item.deaths, 0);
    }
    assert_int_equal(renew_token(c, 1, &held.items[0], LEASE_MS), ANSWER_STALE);
    join(c, 2, OUTBOX_BIT);
    static const char *const turns[] = {"1", "2", "3"};
    for (int i = 0; i < 3; i++) {
        struct item_list list = claim(c, 2, KIND_OUTBOX, 10);
        assert_string_equal(numbers(c, list), turns[i]);
        complete_all(c, 2, list);
    }
}

static void a_suspect_in_the_middle_of_a_stream_stops_the_grant_before_it(void **state) {
    struct conf *c = *state;
    join_slots(c, 1, 2);
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 10);
    /* 2 is split off with a short lease and is lost, 3 with it; 1 is released untouched. */
    assert_int_equal(renew_item(c, 1, &held.items[1], 1000), ANSWER_APPLIED);
    advance(c, 1000);
    claim(c, 1, KIND_OUTBOX, 10);
    assert_int_equal(row_of(c, 2).reason, ASIDE_EXPIRED);
    assert_int_equal(release_item(c, 1, &held.items[0], 0), ANSWER_APPLIED);
    struct item_list first = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, first), "1");
    complete_all(c, 1, first);
    struct item_list suspect = claim(c, 1, KIND_OUTBOX, 10);
    assert_string_equal(numbers(c, suspect), "2");
    assert_true(suspect.items[0].suspect);
    complete_all(c, 1, suspect);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "3");
}

/* 1 of the stream 1 2 is lost, and then dies alone at a limit of one attempt under the policy. */
static void die_alone(struct conf *c, enum dead_policy policy) {
    join(c, 1, OUTBOX_BIT);
    put_range(c, KIND_OUTBOX, 1, 2, STR("a"));
    struct messages_claim in = claim_of(1, KIND_OUTBOX, 10);
    in.policy = policy;
    in.max_attempts = 1;
    assert_int_equal(claim_with(c, in).count, 2);
    advance(c, LEASE_MS);
    assert_string_equal(numbers(c, claim_with(c, in)), "1");
    advance(c, LEASE_MS);
    beat(c, 1);
    assert_int_equal(row_of(c, 1).state, STATE_DEAD);
    assert_int_equal(row_of(c, 1).reason, DEAD_KILLED);
}

static void the_policy_holds_for_a_suspect_that_dies(void **state) {
    struct conf *c = *state;
    die_alone(c, POLICY_BLOCK);
    assert_int_equal(row_of(c, 2).state, STATE_BLOCKED);
    assert_int_equal(row_of(c, 2).reason, ASIDE_EXPIRED);
    assert_int_equal(row_of(c, 2).item.deaths, 0);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 10).count, 0);
}

static void a_suspect_that_dies_parks_the_rest_of_the_stream(void **state) {
    struct conf *c = *state;
    die_alone(c, POLICY_PARK);
    assert_int_equal(row_of(c, 2).state, STATE_DEAD);
    assert_int_equal(row_of(c, 2).reason, DEAD_PARKED);
}

static void behind_a_suspect_that_dies_under_skip_the_stream_goes_on(void **state) {
    struct conf *c = *state;
    die_alone(c, POLICY_SKIP);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "2");
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(InstanceCrashes_MessagesReclaimedAfterLeaseExpiry),
    CONF_TEST(an_owner_takes_its_own_expired_claims_back_and_keeps_the_lane),
    CONF_TEST(suspects_run_alone_and_one_at_a_time),
    CONF_TEST(other_streams_of_the_lane_go_on_beside_a_suspect),
    CONF_TEST(what_never_began_is_neither_charged_nor_slowed_down),
    CONF_TEST(two_that_lose_their_work_at_once_leave_a_suspect_each),
    CONF_TEST(at_most_so_many_lost_messages_are_in_one_hand),
    CONF_TEST(what_is_lost_twice_is_a_suspect_wherever_it_was),
    CONF_TEST(only_a_suspect_that_has_begun_is_charged),
    CONF_TEST(a_suspect_that_fails_is_one_no_more),
    CONF_TEST(an_instance_that_does_not_say_its_slots_gets_a_suspect_by_itself),
    CONF_TEST(who_does_not_say_its_slots_is_not_given_a_suspect_beside_other_work),
    CONF_TEST(who_does_not_say_its_slots_gets_nothing_beside_a_suspect),
    CONF_TEST(another_instance_may_run_a_suspect_beside_it),
    CONF_TEST(healthy_work_goes_on_beside_a_suspect),
    CONF_TEST(a_message_that_kills_its_worker_is_dead_lettered_and_its_mates_complete),
    CONF_TEST(deaths_and_attempts_count_together),
    CONF_TEST(successors_in_another_part_go_with_the_one_before_them),
    CONF_TEST(eviction_takes_every_part_of_a_stream_back),
    CONF_TEST(what_was_done_before_the_claim_expired_stays_a_duplicate),
    CONF_TEST(what_was_split_off_and_lost_is_stale_after_the_rest_is_done),
    CONF_TEST(eviction_ends_claims_like_expiry_but_at_once),
    CONF_TEST(a_suspect_in_the_middle_of_a_stream_stops_the_grant_before_it),
    CONF_TEST(the_policy_holds_for_a_suspect_that_dies),
    CONF_TEST(a_suspect_that_dies_parks_the_rest_of_the_stream),
    CONF_TEST(behind_a_suspect_that_dies_under_skip_the_stream_goes_on),
};

CONF_GROUP(expiry, tests);
