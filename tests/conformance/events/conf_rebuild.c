/* Rebuilding perspectives, and switching to new versions. */
#include "conformance/events/event_words.h"

#include <string.h>

/* covers: W46 */
static void a_rebuild_begins_at_the_first_event_and_fences_off_what_runs(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 2, 1);
    append(c, "order-2", EXPECT_ANY, "Created", 2, 3);
    struct seen seen = {0};
    struct checkpoint_grants granted = grants(c, 1, NULL, "orders@1", NULL);
    struct perspective_registered made;
    int64_t old = granted.grants[0].token;
    apply_one(c, "orders@1", old, "order-1", 0, &seen);
    apply_one(c, "orders@1", old, "order-2", 1, &seen);
    assert_int_equal(perspective_of(c, "orders", 1).applied, 3);
    pawl_str one = STR("order-2");
    struct perspective_reset reset = {
        .perspective = STR("orders@1"), .mode = RESET_REBUILD, .streams = &one, .stream_count = 1};
    int64_t count = 0;
    ok(c, EVENTS(c)->perspective_reset(c->store, &reset, &count, &c->err));
    assert_int_equal(count, 1);
    assert_int_equal(apply_one(c, "orders@1", old, "order-2", 0, &seen).answer, ANSWER_STALE);
    assert_int_equal(perspective_of(c, "orders", 1).applied, 2);
    reset.stream_count = 0;
    ok(c, EVENTS(c)->perspective_reset(c->store, &reset, &count, &c->err));
    assert_int_equal(count, 2);
    append(c, "order-1", EXPECT_ANY, "Created", 1, 5);
    granted = grants(c, 1, NULL, "orders@1", NULL);
    memset(&seen, 0, sizeof seen);
    apply_one(c, "orders@1", granted.grants[0].token, "order-1", 0, &seen);
    assert_string_equal(seen.text, "1:Created(replay) 2:Created(replay) 3:Created");
    reset.perspective = STR("nobody@1");
    expect(c, PAWL_NOT_FOUND, EVENTS(c)->perspective_reset(c->store, &reset, &count, &c->err));
    struct event_pattern any = {PATTERN_GLOB, STR("*")};
    struct perspective_new whole = perspective_named("all", 1, &any);
    whole.clear = STR("DELETE FROM orders"); /* takes no streams, so it would empty the others as well */
    ok(c, EVENTS(c)->perspective_register(c->store, &whole, &made, &c->err));
    reset = (struct perspective_reset){STR("all@1"), RESET_REBUILD, &one, 1};
    expect(c, PAWL_CONFLICT, EVENTS(c)->perspective_reset(c->store, &reset, &count, &c->err));
}

static struct switch_result switch_to(struct conf *c, int version) {
    struct perspective_switch in = {.name = STR("orders"), .version = version};
    struct switch_result out = {0};
    ok(c, EVENTS(c)->perspective_switch(c->store, &in, c->arena, &out, &c->err));
    return out;
}

static void a_new_version_fills_beside_the_old_one_and_is_switched_when_it_has_everything(void **state) {
    struct conf *c = *state;
    join(c, 1, KIND_BITS_ALL);
    register_one(c, "orders", 1, PATTERN_EXACT, "Created");
    append(c, "order-1", EXPECT_ANY, "Created", 2, 1);
    struct seen seen = {0};
    apply_one(c, "orders@1", grants(c, 1, NULL, "orders@1", NULL).grants[0].token, "order-1", 0, &seen);
    assert_int_equal(register_one(c, "orders", 2, PATTERN_GLOB, "*").state, PERSPECTIVE_FILLING);
    append(c, "order-2", EXPECT_ANY, "Created", 1, 3);
    struct switch_result early = switch_to(c, 2);
    assert_int_equal(early.answer, ANSWER_CONFLICT);
    assert_int_equal(early.behind, 2);
    struct checkpoint_grants granted = grants(c, 1, NULL, "orders@2", NULL);
    assert_int_equal(granted.count, 2);
    memset(&seen, 0, sizeof seen);
    apply_one(c, "orders@2", granted.grants[0].token, "order-1", 0, &seen);
    apply_one(c, "orders@2", granted.grants[0].token, "order-2", 0, &seen);
    assert_string_equal(seen.text, "1:Created(replay) 2:Created(replay) 1:Created");
    assert_false(reached(c, "orders", "order-2", 1)); /* the live version is still the old one */
    assert_int_equal(switch_to(c, 2).answer, ANSWER_APPLIED);
    assert_int_equal(switch_to(c, 2).answer, ANSWER_DUPLICATE);
    assert_int_equal(perspective_of(c, "orders", 1).state, PERSPECTIVE_RETIRED);
    assert_int_equal(perspective_of(c, "orders", 2).state, PERSPECTIVE_LIVE);
    assert_true(reached(c, "orders", "order-2", 1));
    append(c, "order-3", EXPECT_ANY, "Created", 1, 4);
    assert_int_equal(checkpoint_count(c, "orders@1"), 2);
    assert_int_equal(checkpoint_count(c, "orders@2"), 3);
    assert_int_equal(grants(c, 1, NULL, "orders@1", "orders@2").count, 1);
    struct perspective_switch in = {.name = STR("orders"), .version = 7};
    struct switch_result out;
    expect(c, PAWL_NOT_FOUND, EVENTS(c)->perspective_switch(c->store, &in, c->arena, &out, &c->err));
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_rebuild_begins_at_the_first_event_and_fences_off_what_runs),
    CONF_TEST(a_new_version_fills_beside_the_old_one_and_is_switched_when_it_has_everything),
};

CONF_GROUP(rebuild, tests);
