/* The relay: one holder per duty, nothing stored under a token that is over, refused things kept once,
 * pauses, audit. */
#include "base/str.h"
#include "base/uuid.h"
#include "conformance/harness.h"

enum { DUTY_MS = 15000, INBOX_BIT = KIND_BIT(KIND_INBOX) };

static struct duty_grant take_(struct conf *c, int instance) {
    struct duty_take in = {STR("subscribe orders"), instance_id(instance), DUTY_MS};
    struct duty_grant grant;
    ok(c, c->store->ops->relay->duty_take(c->store, &in, &grant, &c->err));
    return grant;
}

static struct messages_receive received(struct duty_grant duty, int instance, const pawl_outgoing *messages,
                                        size_t count) {
    return (struct messages_receive){.duty = STR("subscribe orders"),
                                     .instance = instance_id(instance),
                                     .token = duty.token,
                                     .consumer = STR("billing"),
                                     .topic = STR("orders"),
                                     .messages = messages,
                                     .count = count};
}

static void a_duty_has_one_holder(void **state) {
    struct conf *c = *state;
    join(c, 1, INBOX_BIT);
    join(c, 2, INBOX_BIT);
    struct duty_grant first = take_(c, 1);
    assert_true(first.held && first.token > 0);
    assert_int_equal(first.lease_until_ms, first.now_ms + DUTY_MS);
    struct duty_grant second = take_(c, 2);
    assert_false(second.held);
    assert_true(uuid_equal(second.instance, instance_id(1)) && second.token == 0);
    advance(c, DUTY_MS - 1);
    struct duty_grant again = take_(c, 1);
    assert_true(again.held && again.token == first.token); /* renewed, not taken anew */
    struct duty_rows rows;
    ok(c, c->store->ops->relay->duties(c->store, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 1);
    assert_true(str_equal_cstr(rows.rows[0].name, "subscribe orders"));
}

static void a_duty_moves_when_its_lease_is_over_or_its_holder_is_gone(void **state) {
    struct conf *c = *state;
    join(c, 1, INBOX_BIT);
    join(c, 2, INBOX_BIT);
    struct duty_grant first = take_(c, 1);
    advance(c, DUTY_MS);
    struct duty_grant second = take_(c, 2);
    assert_true(second.held && second.token > first.token);
    assert_false(take_(c, 1).held);
    ok(c, c->core->instance_evict(c->store, instance_id(2), &c->err));
    struct duty_grant third = take_(c, 1); /* at once: an evicted instance does nothing any more */
    assert_true(third.held && third.token > second.token);
    expect(c, PAWL_STALE,
           c->store->ops->relay->duty_leave(c->store, STR("subscribe orders"), second.token, &c->err));
    ok(c, c->store->ops->relay->duty_leave(c->store, STR("subscribe orders"), third.token, &c->err));
    struct duty_take evicted = {STR("subscribe orders"), instance_id(2), DUTY_MS};
    struct duty_grant grant;
    expect(c, PAWL_STALE, c->store->ops->relay->duty_take(c->store, &evicted, &grant, &c->err));
    assert_true(take_(c, 1).token > third.token);
}

/* covers: M47 M48 M49 B3.4 */
static void what_comes_in_twice_is_stored_once(void **state) {
    struct conf *c = *state;
    join(c, 1, INBOX_BIT);
    struct duty_grant duty = take_(c, 1);
    pawl_outgoing in[3] = {message_numbered(c, 1, STR("a")), message_numbered(c, 2, STR("a")),
                           message_numbered(c, 1, STR("a"))};
    struct messages_receive call = received(duty, 1, in, 3);
    struct put_result result;
    ok(c, c->store->ops->relay->messages_receive(c->store, &call, c->arena, &result, &c->err));
    assert_int_equal(result.answers[0], ANSWER_APPLIED);
    assert_int_equal(result.answers[1], ANSWER_APPLIED);
    assert_int_equal(result.answers[2], ANSWER_DUPLICATE);
    ok(c, c->store->ops->relay->messages_receive(c->store, &call, c->arena, &result, &c->err));
    for (int i = 0; i < 3; i++)
        assert_int_equal(result.answers[i], ANSWER_DUPLICATE);
    assert_string_equal(numbers(c, claim(c, 1, KIND_INBOX, 10)), "1 2");
}

static void a_reader_whose_duty_is_over_stores_nothing(void **state) {
    struct conf *c = *state;
    join(c, 1, INBOX_BIT);
    join(c, 2, INBOX_BIT);
    struct duty_grant old = take_(c, 1);
    advance(c, DUTY_MS);
    struct duty_grant duty = take_(c, 2);
    pawl_outgoing in = message_numbered(c, 1, STR("a"));
    struct malformed bad = {STR("x"), STR("no type"), STR("{}")};
    struct put_result result;
    struct messages_receive late = received(old, 1, &in, 1);
    late.malformed = &bad;
    late.malformed_count = 1;
    expect(c, PAWL_STALE,
           c->store->ops->relay->messages_receive(c->store, &late, c->arena, &result, &c->err));
    late = received(duty, 1, &in, 1); /* the token alone is not enough */
    expect(c, PAWL_STALE,
           c->store->ops->relay->messages_receive(c->store, &late, c->arena, &result, &c->err));
    struct refused_rows rows;
    ok(c, c->store->ops->relay->refused(c->store, 0, 10, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 0);
    assert_int_equal(rows_with_id(c, 1), 0);
    late = received(duty, 2, &in, 1);
    ok(c, c->store->ops->relay->messages_receive(c->store, &late, c->arena, &result, &c->err));
    assert_int_equal(result.answers[0], ANSWER_APPLIED);
}

static void conflicts_and_malformed_ones_are_kept_once(void **state) {
    struct conf *c = *state;
    join(c, 1, INBOX_BIT);
    struct duty_grant duty = take_(c, 1);
    pawl_outgoing in[2] = {message_numbered(c, 1, STR("a")), message_numbered(c, 1, STR("a"))};
    in[1].payload = STR("{\"other\":true}");
    struct malformed bad[2] = {{STR("m-1"), STR("specversion is missing"), STR("hello")},
                               {{NULL, 0}, STR("not JSON"), STR("base64:AAE=")}};
    struct messages_receive call = received(duty, 1, in, 2);
    call.malformed = bad;
    call.malformed_count = 2;
    struct put_result result;
    for (int round = 0; round < 2; round++)
        ok(c, c->store->ops->relay->messages_receive(c->store, &call, c->arena, &result, &c->err));
    assert_int_equal(result.answers[1], ANSWER_CONFLICT);
    struct refused_rows rows;
    ok(c, c->store->ops->relay->refused(c->store, 0, 10, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 3);
    assert_int_equal(rows.rows[0].reason, REFUSED_CONFLICT);
    assert_true(str_equal_cstr(rows.rows[0].payload, "{\"other\":true}"));
    assert_true(str_equal_cstr(rows.rows[0].consumer, "billing"));
    assert_int_equal(rows.rows[1].reason, REFUSED_MALFORMED);
    assert_true(str_equal_cstr(rows.rows[1].message_id, "m-1") &&
                str_equal_cstr(rows.rows[1].topic, "orders"));
    assert_true(str_equal_cstr(rows.rows[2].detail, "not JSON"));
    struct refused_rows rest;
    ok(c, c->store->ops->relay->refused(c->store, rows.rows[1].number, 10, c->arena, &rest, &c->err));
    assert_int_equal(rest.count, 1);
    ok(c, c->store->ops->relay->refused_remove(c->store, rows.rows[0].number, &c->err));
    expect(c, PAWL_NOT_FOUND, c->store->ops->relay->refused_remove(c->store, rows.rows[0].number, &c->err));
    ok(c, c->store->ops->relay->refused(c->store, 0, 10, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 2);
}

/* Gives the message back for long as a worker may, while something is paused, and says whether it is due once
 * the pause ends. */
static bool due_after_resume(struct conf *c, enum pause_scope scope, pawl_str name, int n, pawl_str stream) {
    pawl_outgoing message = {
        .id = message_id(n), .stream = stream, .type = STR("t"), .topic = STR("a"), .payload = STR("{}")};
    struct messages_put put = {.kind = KIND_OUTBOX, .messages = &message, .count = 1};
    struct put_result result = {0};
    struct pause_row in = {.scope = scope, .name = name, .actor = STR("anna")};
    ok(c, c->core->messages_put(c->store, &put, c->arena, &result, &c->err));
    struct item_list held = claim(c, 1, KIND_OUTBOX, 1);
    ok(c, c->store->ops->relay->pause_set(c->store, &in, &c->err));
    assert_int_equal(release_item(c, 1, &held.items[0], 600000), ANSWER_APPLIED);
    advance(c, 1000);
    assert_int_equal(claim(c, 1, KIND_OUTBOX, 1).count, 0);
    ok(c, c->store->ops->relay->pause_clear(c->store, scope, name, &c->err));
    struct item_list again = claim(c, 1, KIND_OUTBOX, 1);
    complete_all(c, 1, again);
    return again.count == 1;
}

static void what_was_given_back_is_due_when_the_pause_ends(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    assert_true(due_after_resume(c, PAUSE_TOPIC, STR("a"), 1, STR("s")));
    assert_true(due_after_resume(c, PAUSE_STREAM, STR("s"), 2, STR("s")));
    assert_true(due_after_resume(c, PAUSE_HANDLER, STR("t"), 3, ABSENT));
    assert_false(due_after_resume(c, PAUSE_TOPIC, STR("b"), 4, STR("u"))); /* another topic's pause */
    advance(c, 600000);
    complete_all(c, 1, claim(c, 1, KIND_OUTBOX, 1));
}

static void pauses_are_noted_and_taken_back(void **state) {
    struct conf *c = *state;
    struct pause_row in = {
        .scope = PAUSE_STREAM, .name = STR("order-1"), .reason = STR("migration"), .actor = STR("anna")};
    ok(c, c->store->ops->relay->pause_set(c->store, &in, &c->err));
    in.reason = STR("later");
    ok(c, c->store->ops->relay->pause_set(c->store, &in, &c->err)); /* the first stays */
    in = (struct pause_row){.scope = PAUSE_TOPIC, .name = STR("order-1"), .actor = STR("bert")};
    ok(c, c->store->ops->relay->pause_set(c->store, &in, &c->err));
    struct pause_rows rows;
    ok(c, c->store->ops->relay->pauses(c->store, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.rows[0].scope, PAUSE_TOPIC);
    assert_true(str_absent(rows.rows[0].reason));
    assert_true(str_equal_cstr(rows.rows[1].reason, "migration"));
    assert_int_equal(rows.rows[1].since_ms, c->now_ms);
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    assert_int_equal(beat(c, 1).pauses, 2); /* a worker asks for them when there are any */
    ok(c, c->store->ops->relay->pause_clear(c->store, PAUSE_TOPIC, STR("order-1"), &c->err));
    expect(c, PAWL_NOT_FOUND,
           c->store->ops->relay->pause_clear(c->store, PAUSE_TOPIC, STR("order-1"), &c->err));
    in = (struct pause_row){
        .scope = PAUSE_MESSAGE, .name = STR("01890a5d-ac96-774b-bcce-b302099a8057"), .actor = STR("anna")};
    ok(c, c->store->ops->relay->pause_set(c->store, &in, &c->err)); /* a message is cancelled */
    ok(c, c->store->ops->relay->pauses(c->store, c->arena, &rows, &c->err));
    assert_int_equal(rows.rows[1].scope, PAUSE_MESSAGE);
    ok(c, c->store->ops->relay->pause_clear(c->store, PAUSE_MESSAGE, in.name, &c->err));
    assert_int_equal(beat(c, 1).pauses, 1);
    in.name = STR("order-1");
    expect(c, PAWL_INVALID, c->store->ops->relay->pause_set(c->store, &in, &c->err));
    in.scope = (enum pause_scope)7;
    expect(c, PAWL_INVALID, c->store->ops->relay->pause_set(c->store, &in, &c->err));
}

static void a_cancelled_message_says_by_whom_and_why(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    put_range(c, KIND_OUTBOX, 1, 2, (pawl_str){NULL, 0});
    struct item_list got = claim(c, 1, KIND_OUTBOX, 2);
    char id[UUID_TEXT_BYTES];
    struct pause_row in = {.scope = PAUSE_MESSAGE,
                           .name = str_from(uuid_format(item_of(c, got, 1)->id, id)),
                           .reason = STR("wrong address"),
                           .actor = STR("anna")};
    ok(c, c->store->ops->relay->pause_set(c->store, &in, &c->err));
    for (int n = 1; n <= 2; n++) {
        struct fail_item failed = failure_of(item_of(c, got, n), "stopped", -1);
        failed.error_class = CLASS_CANCELLED;
        assert_int_equal(fail_with(c, 1, KIND_OUTBOX, failed).outcome, FAIL_DEAD);
        assert_int_equal(row_of(c, n).reason, DEAD_CANCELLED);
    }
    ok(c, c->store->ops->relay->pause_clear(c->store, PAUSE_MESSAGE, in.name, &c->err));
    assert_true(str_equal_cstr(row_of(c, 1).error, "cancelled by anna: wrong address"));
    assert_true(str_equal_cstr(row_of(c, 2).error, "stopped")); /* nobody said why */
    assert_int_equal(redrive(c, KIND_OUTBOX, 1), ANSWER_APPLIED);
}

static void the_audit_keeps_what_people_did(void **state) {
    struct conf *c = *state;
    for (int i = 0; i < 3; i++) {
        struct audit_row in = {
            .actor = STR("anna"), .action = i == 2 ? STR("dead redrive") : STR("pause"), .detail = STR("{}")};
        ok(c, c->store->ops->relay->audit_add(c->store, &in, &c->err));
    }
    struct audit_rows rows;
    ok(c, c->store->ops->relay->audits(c->store, 0, 2, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 2);
    assert_true(str_equal_cstr(rows.rows[0].action, "dead redrive"));
    assert_int_equal(rows.rows[0].at_ms, c->now_ms);
    ok(c, c->store->ops->relay->audits(c->store, rows.rows[1].number, 10, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 1);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_duty_has_one_holder),
    CONF_TEST(a_duty_moves_when_its_lease_is_over_or_its_holder_is_gone),
    CONF_TEST(what_comes_in_twice_is_stored_once),
    CONF_TEST(a_reader_whose_duty_is_over_stores_nothing),
    CONF_TEST(conflicts_and_malformed_ones_are_kept_once),
    CONF_TEST(pauses_are_noted_and_taken_back),
    CONF_TEST(what_was_given_back_is_due_when_the_pause_ends),
    CONF_TEST(a_cancelled_message_says_by_whom_and_why),
    CONF_TEST(the_audit_keeps_what_people_did),
};

CONF_GROUP(relay, tests);
