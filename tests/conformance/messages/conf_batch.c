/* The batch: reports, puts and claims in one transaction. */
#include "conformance/events/event_words.h"

#include <string.h>

enum { COMPLETED = 4, OUT = KIND_OUTBOX, IN = KIND_INBOX };

static struct work_batch batch_of(int n) {
    return (struct work_batch){
        .instance = instance_named(n, KIND_BITS_ALL), .lease_ms = LEASE_MS, .flags = BATCH_LANES};
}

static struct work_batch_result process(struct conf *c, struct work_batch in) {
    struct work_batch_result result;
    memset(&result, 0, sizeof result);
    expect_status_(c, PAWL_OK, c->core->batch_process(c->store, &in, c->arena, &result, &c->err),
                   "batch_process");
    return result;
}
#define process(c, in) (conf_at(c, __FILE__, __LINE__), process(c, in))

static struct complete_item done(const struct item *item) {
    return (struct complete_item){.ref = {item->token, item->id}, .status = COMPLETED};
}

/* Both kinds hold messages 1..4 (outbox) and 11..14 (inbox) in the instance's claims. */
struct both_held {
    struct item_list out, in;
};

static struct both_held hold_both(struct conf *c) {
    join(c, 1, KIND_BITS_ALL);
    for (int n = 1; n <= 4; n++) {
        put(c, KIND_OUTBOX, n, stream_on(c, n, 0));
        put(c, KIND_INBOX, 10 + n, stream_on(c, n, 0));
    }
    return (struct both_held){claim(c, 1, KIND_OUTBOX, 10), claim(c, 1, KIND_INBOX, 10)};
}

/* order-1 with three events and order-2 with one, granted to instance 1; nothing wakes their perspective. */
static struct checkpoint_grants hold_checkpoints(struct conf *c) {
    register_one(c, "totals", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 3, 31);
    append(c, "order-2", EXPECT_ANY, "Created", 1, 34);
    struct checkpoint_grants granted = grants(c, 1, NULL, "totals@1", NULL);
    assert_int_equal(granted.count, 2);
    complete_all(c, 1, claim(c, 1, KIND_PERSPECTIVE, 10));
    return granted;
}

/* covers: W01 W04 W05 W06 W07 W08 W09 W10 W11 W12 W13 W14 W15 W22 W36 B3.3 BX.4 P54 */
static void one_call_does_every_step_and_answers_each_item(void **state) {
    struct conf *c = *state;
    struct both_held held = hold_both(c);
    struct checkpoint_grants granted = hold_checkpoints(c);
    advance(c, 500);
    struct complete_item out_done = done(item_of(c, held.out, 1)), in_done = done(item_of(c, held.in, 11));
    struct fail_item out_failed = failure_of(item_of(c, held.out, 2), "refused", 60000);
    struct fail_item in_failed = failure_of(item_of(c, held.in, 12), "timeout", 60000);
    struct release_item out_back = {.ref = {item_of(c, held.out, 3)->token, message_id(3)},
                                    .delay_ms = 60000};
    struct release_item in_back = {.ref = {item_of(c, held.in, 13)->token, message_id(13)},
                                   .delay_ms = 60000};
    struct item_ref out_renew = {item_of(c, held.out, 4)->token, message_id(4)};
    struct item_ref in_renew = {item_of(c, held.in, 14)->token, message_id(14)};
    pawl_outgoing out_new[2] = {message_numbered(c, 5, stream_on(c, 7, 0)),
                                message_numbered(c, 6, stream_on(c, 7, 0))};
    pawl_outgoing in_new = message_numbered(c, 15, stream_on(c, 7, 0));
    pawl_outgoing view_new = message_numbered(c, 25, stream_on(c, 7, 0));
    struct receptor_report receptors[2] = {
        {.event_id = message_id(11), .receptor = STR("Mailer"), .status = COMPLETED},
        {.event_id = message_id(11), .receptor = STR("Ledger"), .status = 1, .error = STR("closed")}};
    struct checkpoint_report checkpoints[2] = {{.stream = STR("order-1"),
                                                .perspective = STR("totals@1"),
                                                .version = 3,
                                                .token = granted.grants[0].token,
                                                .status = CHECKPOINT_COMPLETED},
                                               {.stream = STR("order-2"),
                                                .perspective = STR("totals@1"),
                                                .version = 0,
                                                .token = granted.grants[1].token,
                                                .status = CHECKPOINT_FAILED,
                                                .error = STR("bad event")}};
    struct work_batch in = batch_of(1);
    in.completions[OUT] = &out_done, in.completion_count[OUT] = 1;
    in.completions[IN] = &in_done, in.completion_count[IN] = 1;
    in.failures[OUT] = &out_failed, in.failure_count[OUT] = 1;
    in.failures[IN] = &in_failed, in.failure_count[IN] = 1;
    in.releases[OUT] = &out_back, in.release_count[OUT] = 1;
    in.releases[IN] = &in_back, in.release_count[IN] = 1;
    in.renewals[OUT] = &out_renew, in.renewal_count[OUT] = 1;
    in.renewals[IN] = &in_renew, in.renewal_count[IN] = 1;
    in.messages[OUT] = out_new, in.message_count[OUT] = 2;
    in.messages[IN] = &in_new, in.message_count[IN] = 1;
    in.messages[KIND_PERSPECTIVE] = &view_new, in.message_count[KIND_PERSPECTIVE] = 1;
    in.receptors = receptors, in.receptor_count = 2;
    in.checkpoints = checkpoints, in.checkpoint_count = 2;
    for (int kind = KIND_OUTBOX; kind <= KIND_PERSPECTIVE; kind++)
        in.claim_max[kind] = 10;
    struct work_batch_result result = process(c, in);

    assert_int_equal(result.now_ms, c->now_ms);
    for (int kind = OUT; kind <= IN; kind++) {
        assert_int_equal(result.completed[kind].answers[0], ANSWER_APPLIED);
        assert_int_equal(result.failed[kind].answers[0], ANSWER_APPLIED);
        assert_int_equal(result.failed[kind].outcomes[0], FAIL_RETRY);
        assert_int_equal(result.released[kind].answers[0], ANSWER_APPLIED);
        assert_int_equal(result.renewed[kind].answers[0], ANSWER_APPLIED);
        assert_int_equal(result.put[kind].answers[0], ANSWER_APPLIED);
        assert_int_equal(result.lane_count[kind], c->lanes);
    }
    assert_int_equal(result.receptors.count, 2);
    assert_int_equal(result.receptors.answers[1], ANSWER_APPLIED);
    assert_int_equal(result.checkpoints.count, 2);
    assert_int_equal(result.checkpoints.answers[0], ANSWER_APPLIED);
    assert_int_equal(result.checkpoints.answers[1], ANSWER_APPLIED);
    assert_string_equal(numbers(c, result.claimed[OUT]), "5 6"); /* new in this very call */
    assert_string_equal(numbers(c, result.claimed[IN]), "15");
    assert_string_equal(numbers(c, result.claimed[KIND_PERSPECTIVE]), "25");
    assert_true(str_equal(result.claimed[IN].items[0].consumer, STR("orders"))); /* the service's name */
    assert_int_equal(rows_with_id(c, 1), 0);
    assert_int_equal(row_of(c, 2).attempts, 1);
    assert_int_equal(row_of(c, 13).attempts, 0);
    assert_int_equal(row_of(c, 4).item.lease_until_ms, c->now_ms + LEASE_MS);
    struct checkpoint_row checkpoint;
    ok(c, c->view->checkpoint_get(c->store, STR("order-2"), STR("totals@1"), c->arena, &checkpoint, &c->err));
    assert_int_equal(checkpoint.status, CHECKPOINT_FAILED);
}

static struct work_batch checkpoints_of(int n, int max) {
    struct work_batch in = batch_of(n);
    in.checkpoint_max = max;
    return in;
}

static struct checkpoint_report moved(const struct checkpoint_grant *grant, int64_t version,
                                      enum checkpoint_status status) {
    return (struct checkpoint_report){.stream = grant->stream,
                                      .perspective = grant->perspective,
                                      .version = version,
                                      .token = grant->token,
                                      .status = status,
                                      .error = status == CHECKPOINT_FAILED ? STR("no table") : ABSENT,
                                      .delay_ms = status == CHECKPOINT_FAILED ? 1000 : 0};
}

/* covers: W22 P10 P15 P54 B0.10 B3.3 */
static void a_batch_drives_a_read_model_to_its_head(void **state) {
    struct conf *c = *state;
    register_one(c, "totals", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 3, 31);
    append(c, "order-2", EXPECT_ANY, "Created", 1, 34);
    append(c, "order-3", EXPECT_ANY, "Other", 1, 35); /* not for it */
    struct work_batch in = checkpoints_of(1, 1);
    in.request = message_id(90);
    struct work_batch_result first = process(c, in);
    assert_int_equal(first.granted.count, 1);
    struct checkpoint_grant one = first.granted.grants[0];
    assert_true(str_equal(one.stream, STR("order-1")) && str_equal(one.perspective, STR("totals@1")));
    assert_int_equal(one.version, 0);
    assert_int_equal(one.head, 3);
    assert_int_equal(one.attempt, 1);
    assert_int_equal(one.lease_until_ms, c->now_ms + LEASE_MS);
    /* Nothing is left that only says "look here", and that nobody could end. */
    assert_int_equal(counted(c, KIND_PERSPECTIVE).claims_active, 0);
    assert_int_equal(counted(c, KIND_PERSPECTIVE).done, 2);
    /* The same request again: the same grant, no other. */
    struct work_batch_result again = process(c, in);
    assert_int_equal(again.granted.count, 1);
    assert_int_equal(again.granted.grants[0].token, one.token);
    /* The other stream for another instance, which reports it later; the first one goes on and renews. */
    struct work_batch_result other = process(c, checkpoints_of(2, 10));
    assert_int_equal(other.granted.count, 1);
    struct checkpoint_ref ref = {one.stream, one.perspective, one.token};
    struct checkpoint_report part = moved(&one, 1, CHECKPOINT_PROCESSING);
    advance(c, 500);
    in = checkpoints_of(1, 10);
    in.checkpoint_renewals = &ref, in.checkpoint_renewal_count = 1;
    in.checkpoints = &part, in.checkpoint_count = 1;
    struct work_batch_result second = process(c, in);
    assert_int_equal(second.checkpoint_renewals.answers[0], ANSWER_APPLIED);
    assert_int_equal(second.checkpoints.answers[0], ANSWER_APPLIED);
    assert_int_equal(second.granted.count, 0);
    assert_int_equal(checkpoint_of(c, "order-1", "totals@1").lease_until_ms, c->now_ms + LEASE_MS);
    /* More comes; done, failed, and what is new in one call. */
    append(c, "order-1", EXPECT_ANY, "Created", 1, 36);
    part = moved(&one, 3, CHECKPOINT_COMPLETED);
    in = checkpoints_of(1, 10);
    in.checkpoints = &part, in.checkpoint_count = 1;
    struct work_batch_result third = process(c, in);
    assert_int_equal(third.checkpoints.answers[0], ANSWER_APPLIED);
    assert_int_equal(third.granted.count, 1);
    assert_int_equal(third.granted.grants[0].version, 3);
    assert_int_equal(third.granted.grants[0].head, 4);
    part = moved(&third.granted.grants[0], 4, CHECKPOINT_COMPLETED);
    assert_int_equal(process(c, in).checkpoints.answers[0], ANSWER_APPLIED);
    assert_int_equal(checkpoint_of(c, "order-1", "totals@1").status, CHECKPOINT_COMPLETED);
    part = moved(&other.granted.grants[0], 0, CHECKPOINT_FAILED);
    in = checkpoints_of(2, 10);
    in.checkpoints = &part, in.checkpoint_count = 1;
    assert_int_equal(process(c, in).checkpoints.answers[0], ANSWER_APPLIED);
    advance(c, 1000);
    struct work_batch_result retried = process(c, checkpoints_of(2, 10));
    assert_int_equal(retried.granted.count, 1);
    assert_int_equal(retried.granted.grants[0].attempt, 2);
    part = moved(&retried.granted.grants[0], 0, CHECKPOINT_PENDING); /* given back */
    assert_int_equal(process(c, in).granted.count, 1);               /* and taken again in the same call */
}

/* covers: B0.5 W22 */
static void a_batch_of_who_was_evicted_moves_no_checkpoint(void **state) {
    struct conf *c = *state;
    register_one(c, "totals", 1, PATTERN_EXACT, "Created");
    register_one(c, "other", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 2, 31);
    struct work_batch in = checkpoints_of(1, 10);
    pawl_str key = STR("totals@1");
    in.perspectives = &key, in.perspective_count = 1; /* what it cannot run is left for others */
    struct work_batch_result first = process(c, in);
    assert_int_equal(first.granted.count, 1);
    process(c, batch_of(2));
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    struct checkpoint_report late = moved(&first.granted.grants[0], 2, CHECKPOINT_COMPLETED);
    in.checkpoints = &late, in.checkpoint_count = 1;
    struct work_batch_result none;
    expect(c, PAWL_STALE, c->core->batch_process(c->store, &in, c->arena, &none, &c->err));
    struct work_batch peer = checkpoints_of(2, 10);
    peer.checkpoints = &late, peer.checkpoint_count = 1;
    struct work_batch_result taken = process(c, peer);
    assert_int_equal(taken.checkpoints.answers[0], ANSWER_STALE); /* somebody else's token */
    assert_int_equal(taken.granted.count, 2);
    struct checkpoint_ref ref = {late.stream, late.perspective, late.token};
    peer.checkpoint_renewals = &ref, peer.checkpoint_renewal_count = 1;
    assert_int_equal(process(c, peer).checkpoint_renewals.answers[0], ANSWER_STALE);
    assert_int_equal(checkpoint_of(c, "order-1", "totals@1").version, 0);
    /* With the messages themselves it is one or the other. */
    peer = checkpoints_of(2, 10);
    peer.claim_max[KIND_PERSPECTIVE] = 10;
    expect(c, PAWL_INVALID, c->core->batch_process(c->store, &peer, c->arena, &none, &c->err));
    peer = checkpoints_of(2, 10);
    peer.flags = BATCH_SKIP_CLAIM;
    assert_int_equal(process(c, peer).granted.count, 0);
}

static void an_unknown_instance_is_registered_with_its_kinds(void **state) {
    struct conf *c = *state;
    struct work_batch in = batch_of(5);
    in.instance.metadata = STR("{\"zone\":\"a\"}");
    struct work_batch_result result = process(c, in);
    assert_int_equal(result.lease_until_ms, c->now_ms + INSTANCE_LEASE_MS);
    assert_int_equal(instance_row(c, 5).state, INSTANCE_ACTIVE);
    assert_int_equal(instance_row(c, 5).started_ms, c->now_ms);
    for (int kind = KIND_OUTBOX; kind <= KIND_PERSPECTIVE; kind++) {
        assert_int_equal(result.lane_count[kind], c->lanes);
        for (int lane = 0; lane < c->lanes; lane++)
            assert_in_range(result.lanes[kind][lane], 0, c->lanes - 1);
    }
}

/* covers: B3.5 */
static void a_batch_beats_only_when_the_last_beat_is_a_second_old(void **state) {
    struct conf *c = *state;
    int64_t registered = c->now_ms;
    process(c, batch_of(1));
    advance(c, 999);
    process(c, batch_of(1));
    assert_int_equal(instance_row(c, 1).beat_ms, registered);
    advance(c, 1);
    process(c, batch_of(1));
    assert_int_equal(instance_row(c, 1).beat_ms, registered + 1000);
}

static void the_beat_of_a_batch_rebalances(void **state) {
    struct conf *c = *state;
    process(c, batch_of(1));
    process(c, batch_of(2));
    advance(c, 1000);
    struct work_batch_result first = process(c, batch_of(1));
    struct work_batch_result second = process(c, batch_of(2));
    assert_int_equal(first.lane_count[OUT], c->lanes / 2);
    assert_int_equal(second.lane_count[OUT], c->lanes / 2);
}

/* covers: B2.6 W02 */
static void an_evicted_instance_is_stale_and_nothing_happens(void **state) {
    struct conf *c = *state;
    struct both_held held = hold_both(c);
    struct complete_item out_done = done(item_of(c, held.out, 1));
    pawl_outgoing out_new = message_numbered(c, 5, STR("a"));
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    const char *before = state_text(c);
    struct work_batch in = batch_of(1);
    struct work_batch_result result;
    in.completions[OUT] = &out_done, in.completion_count[OUT] = 1;
    in.messages[OUT] = &out_new, in.message_count[OUT] = 1;
    in.claim_max[OUT] = 10;
    expect(c, PAWL_STALE, c->core->batch_process(c->store, &in, c->arena, &result, &c->err));
    assert_string_equal(state_text(c), before);
    join(c, 2, 0);
    ok(c, c->core->instance_deregister(c->store, instance_id(2), &c->err));
    in = batch_of(2);
    expect(c, PAWL_STALE, c->core->batch_process(c->store, &in, c->arena, &result, &c->err));
}

/* covers: W02 P53 */
static void an_error_rolls_everything_back(void **state) {
    struct conf *c = *state;
    struct both_held held = hold_both(c);
    struct complete_item out_done = done(item_of(c, held.out, 1));
    pawl_outgoing out_new[2] = {message_numbered(c, 5, STR("a")), message_numbered(c, 6, STR("a"))};
    out_new[1].payload = STR("{\"n\":");
    const char *before = state_text(c);
    struct work_batch in = batch_of(1);
    struct work_batch_result result;
    in.completions[OUT] = &out_done, in.completion_count[OUT] = 1;
    in.messages[OUT] = out_new, in.message_count[OUT] = 2;
    expect(c, PAWL_INVALID, c->core->batch_process(c->store, &in, c->arena, &result, &c->err));
    assert_string_equal(state_text(c), before);
    out_new[1].payload = STR("{}");
    in.instance.partition_count = c->partitions + 7;
    expect(c, PAWL_INVALID, c->core->batch_process(c->store, &in, c->arena, &result, &c->err));
    assert_string_equal(state_text(c), before);
    in.instance.partition_count = 0;
    process(c, in);
    assert_int_equal(rows_with_id(c, 1), 0);
}

/* covers: B3.4 B3.8 */
static void an_item_s_answer_never_rolls_back_another(void **state) {
    struct conf *c = *state;
    struct both_held held = hold_both(c);
    struct complete_item completions[2] = {done(item_of(c, held.out, 1)), done(item_of(c, held.out, 2))};
    completions[0].ref.token = 5; /* stale */
    pawl_outgoing in_new[2] = {message_numbered(c, 11, STR("x")), message_numbered(c, 16, STR("x"))};
    struct work_batch in = batch_of(1);
    in.completions[OUT] = completions, in.completion_count[OUT] = 2;
    in.messages[IN] = in_new, in.message_count[IN] = 2;
    struct work_batch_result result = process(c, in);
    assert_int_equal(result.completed[OUT].answers[0], ANSWER_STALE);
    assert_int_equal(result.completed[OUT].answers[1], ANSWER_APPLIED);
    assert_int_equal(result.put[IN].answers[0], ANSWER_DUPLICATE);
    assert_int_equal(result.put[IN].answers[1], ANSWER_APPLIED);
}

/* covers: W16 W37 */
static void skip_claim_writes_and_claims_nothing(void **state) {
    struct conf *c = *state;
    pawl_outgoing out_new = message_numbered(c, 1, STR("a"));
    struct work_batch in = batch_of(1);
    in.messages[OUT] = &out_new, in.message_count[OUT] = 1;
    in.claim_max[OUT] = 10;
    in.flags = BATCH_SKIP_CLAIM;
    struct work_batch_result result = process(c, in);
    assert_int_equal(result.put[OUT].answers[0], ANSWER_APPLIED);
    assert_int_equal(result.claimed[OUT].count, 0);
    assert_int_equal(row_of(c, 1).state, STATE_READY);
    in = batch_of(1);
    in.claim_max[OUT] = 10;
    assert_string_equal(numbers(c, process(c, in).claimed[OUT]), "1");
}

/* covers: W16 P40 */
static void debug_keeps_what_was_completed_readable(void **state) {
    struct conf *c = *state;
    struct both_held held = hold_both(c);
    struct complete_item out_done = done(item_of(c, held.out, 1));
    struct complete_item in_done = done(item_of(c, held.in, 11));
    struct work_batch in = batch_of(1);
    in.completions[OUT] = &out_done, in.completion_count[OUT] = 1;
    in.flags = BATCH_DEBUG;
    process(c, in);
    assert_int_equal(row_of(c, 1).state, STATE_DONE);
    assert_true(str_equal(row_of(c, 1).item.payload, STR("{\"n\":1}")));
    in = batch_of(1);
    in.completions[IN] = &in_done, in.completion_count[IN] = 1;
    process(c, in);
    assert_int_equal(rows_with_id(c, 11), 0);
}

/* covers: B3.8 */
static void a_batch_sent_again_with_its_request_is_applied_once(void **state) {
    struct conf *c = *state;
    struct both_held held = hold_both(c);
    struct complete_item out_done = done(item_of(c, held.out, 1));
    pawl_outgoing out_new[2] = {message_numbered(c, 5, stream_on(c, 9, 0)),
                                message_numbered(c, 6, stream_on(c, 10, 0))};
    struct work_batch in = batch_of(1);
    in.completions[OUT] = &out_done, in.completion_count[OUT] = 1;
    in.messages[OUT] = out_new, in.message_count[OUT] = 2;
    in.claim_max[OUT] = 10;
    in.request = request_id(1);
    struct work_batch_result first = process(c, in);
    assert_string_equal(numbers_sorted(c, first.claimed[OUT]), "5 6");
    put(c, KIND_OUTBOX, 7, stream_on(c, 11, 0));
    struct work_batch_result again = process(c, in);
    assert_int_equal(again.put[OUT].answers[0], ANSWER_DUPLICATE);
    assert_int_equal(again.put[OUT].answers[1], ANSWER_DUPLICATE);
    assert_int_equal(again.completed[OUT].answers[0], ANSWER_DUPLICATE);
    assert_string_equal(numbers_sorted(c, again.claimed[OUT]), "5 6");
    assert_int_equal(item_of(c, again.claimed[OUT], 5)->token, item_of(c, first.claimed[OUT], 5)->token);
    assert_int_equal(rows_with_id(c, 5), 1);
    assert_int_equal(row_of(c, 7).state, STATE_READY);
}

static void an_empty_batch_changes_nothing_but_the_beat(void **state) {
    struct conf *c = *state;
    process(c, batch_of(1));
    const char *before = state_text(c);
    struct work_batch in = batch_of(1);
    for (int kind = KIND_OUTBOX; kind <= KIND_PERSPECTIVE; kind++)
        in.claim_max[kind] = 100;
    struct work_batch_result result = process(c, in);
    assert_string_equal(state_text(c), before);
    for (int kind = KIND_OUTBOX; kind <= KIND_PERSPECTIVE; kind++)
        assert_int_equal(result.claimed[kind].count, 0);
}

static void a_consumer_may_be_named_for_the_inbox(void **state) {
    struct conf *c = *state;
    pawl_outgoing in_new = message_numbered(c, 1, STR("a"));
    struct work_batch in = batch_of(1);
    in.messages[IN] = &in_new, in.message_count[IN] = 1;
    in.consumer = STR("billing");
    in.claim_max[IN] = 1;
    struct work_batch_result result = process(c, in);
    assert_true(str_equal(result.claimed[IN].items[0].consumer, STR("billing")));
    in.consumer = ABSENT;
    assert_int_equal(process(c, in).put[IN].answers[0], ANSWER_APPLIED); /* the service is another consumer */
}

static void claims_of_a_batch_carry_its_policy_and_limit(void **state) {
    struct conf *c = *state;
    put_range(c, KIND_OUTBOX, 1, 2, STR("a"));
    struct work_batch in = batch_of(1);
    in.claim_max[OUT] = 10;
    in.policy = POLICY_PARK;
    in.max_attempts = 1;
    struct work_batch_result result = process(c, in);
    assert_int_equal(fail_item(c, 1, &result.claimed[OUT].items[0], 0), ANSWER_APPLIED);
    assert_int_equal(row_of(c, 1).reason, DEAD_ATTEMPTS);
    assert_int_equal(row_of(c, 2).reason, DEAD_PARKED);
}

static void a_batch_that_may_not_claim_is_stale_as_a_whole(void **state) {
    struct conf *c = *state;
    struct work_batch in = batch_of(1);
    in.instance.lease_ms = 200;
    process(c, in);
    advance(c, 500); /* the lease is over, and the beat is too young to be renewed by the batch */
    pawl_outgoing out_new = message_numbered(c, 1, STR("a"));
    struct work_batch_result result;
    in.messages[OUT] = &out_new, in.message_count[OUT] = 1;
    in.claim_max[OUT] = 10;
    expect(c, PAWL_STALE, c->core->batch_process(c->store, &in, c->arena, &result, &c->err));
    assert_int_equal(rows_with_id(c, 1), 0);
    in.claim_max[OUT] = 0;
    in.lease_ms = 0; /* allowed when nothing is renewed or claimed */
    assert_int_equal(process(c, in).put[OUT].answers[0], ANSWER_APPLIED);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(one_call_does_every_step_and_answers_each_item),
    CONF_TEST(a_batch_drives_a_read_model_to_its_head),
    CONF_TEST(a_batch_of_who_was_evicted_moves_no_checkpoint),
    CONF_TEST(an_unknown_instance_is_registered_with_its_kinds),
    CONF_TEST(a_batch_beats_only_when_the_last_beat_is_a_second_old),
    CONF_TEST(the_beat_of_a_batch_rebalances),
    CONF_TEST(an_evicted_instance_is_stale_and_nothing_happens),
    CONF_TEST(an_error_rolls_everything_back),
    CONF_TEST(an_item_s_answer_never_rolls_back_another),
    CONF_TEST(skip_claim_writes_and_claims_nothing),
    CONF_TEST(debug_keeps_what_was_completed_readable),
    CONF_TEST(a_batch_sent_again_with_its_request_is_applied_once),
    CONF_TEST(an_empty_batch_changes_nothing_but_the_beat),
    CONF_TEST(a_consumer_may_be_named_for_the_inbox),
    CONF_TEST(claims_of_a_batch_carry_its_policy_and_limit),
    CONF_TEST(a_batch_that_may_not_claim_is_stale_as_a_whole),
};

CONF_GROUP(batch, tests);
