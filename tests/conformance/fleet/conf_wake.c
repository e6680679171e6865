/* Waking: a put wakes the workers that asked for it, and no others; nothing depends on it. */
#include "conformance/events/event_words.h"

#include <poll.h>

#include "base/limits.h"

enum { OUTBOX_BIT = KIND_BIT(KIND_OUTBOX), HEARD_MS = 5000, SILENCE_MS = 60 };

/* Whether the waker rings within the time; a ring is taken off. */
static bool rings(struct conf *c, struct store_waker *waker, int within_ms) {
    struct pollfd event = {.fd = waker->fd, .events = POLLIN};
    bool woken = false;
    while (!woken && poll(&event, 1, within_ms) > 0)
        ok(c, waker->drain(waker, &woken, &c->err));
    return woken;
}

/* A waker that was heard once, or NULL where there is none or it cannot be trusted (behind a pooler). */
static struct store_waker *trusted_waker(struct conf *c) {
    struct store_waker *waker = open_waker(c);
    if (waker == NULL)
        return NULL;
    ok(c, c->core->wake(c->store, &c->err));
    if (rings(c, waker, HEARD_MS))
        return waker;
    store_waker_close(waker);
    assert_true(pooled(c)); /* everywhere else it must be heard */
    return NULL;
}

static void a_put_wakes_who_asked_for_its_kind(void **state) {
    struct conf *c = *state;
    bool late = false;
    join(c, 1, OUTBOX_BIT);
    struct store_waker *waker = trusted_waker(c);
    if (waker == NULL)
        return;
    put(c, KIND_OUTBOX, 1, STR("a"));
    assert_false(rings(c, waker, SILENCE_MS)); /* nobody asked */
    ok(c, c->core->wait_begin(c->store, instance_id(1), OUTBOX_BIT, &late, &c->err));
    put(c, KIND_INBOX, 2, STR("a"));
    assert_false(rings(c, waker, SILENCE_MS)); /* another kind */
    put(c, KIND_OUTBOX, 3, STR("a"));
    assert_true(rings(c, waker, HEARD_MS));
    ok(c, c->core->wait_end(c->store, instance_id(1), &c->err));
    put(c, KIND_OUTBOX, 4, STR("a"));
    assert_false(rings(c, waker, SILENCE_MS));
    store_waker_close(waker);
}

static void a_wish_lasts_three_minutes_and_can_be_made_again(void **state) {
    struct conf *c = *state;
    bool late = true;
    join(c, 1, OUTBOX_BIT);
    struct store_waker *waker = trusted_waker(c);
    if (waker == NULL)
        return;
    ok(c, c->core->wait_begin(c->store, instance_id(1), OUTBOX_BIT, &late, &c->err));
    advance(c, PAWL_WAIT_MS - 1000);
    put(c, KIND_OUTBOX, 1, STR("a"));
    assert_true(rings(c, waker, HEARD_MS));
    ok(c, c->core->wait_begin(c->store, instance_id(1), OUTBOX_BIT, &late, &c->err));
    advance(c, PAWL_WAIT_MS - 1000);
    put(c, KIND_OUTBOX, 2, STR("a"));
    assert_true(rings(c, waker, HEARD_MS));
    ok(c, c->core->wait_begin(c->store, instance_id(1), OUTBOX_BIT, &late, &c->err));
    advance(c, PAWL_WAIT_MS + 1);
    put(c, KIND_OUTBOX, 3, STR("a"));
    assert_false(rings(c, waker, SILENCE_MS));
    store_waker_close(waker);
}

static void a_wish_ends_with_its_instance(void **state) {
    struct conf *c = *state;
    bool late = false;
    join(c, 1, OUTBOX_BIT);
    join(c, 2, OUTBOX_BIT);
    struct store_waker *waker = trusted_waker(c);
    if (waker == NULL)
        return;
    ok(c, c->core->wait_begin(c->store, instance_id(1), OUTBOX_BIT, &late, &c->err));
    ok(c, c->core->wait_begin(c->store, instance_id(2), OUTBOX_BIT, &late, &c->err));
    ok(c, c->core->instance_evict(c->store, instance_id(1), &c->err));
    put(c, KIND_OUTBOX, 1, STR("a"));
    assert_true(rings(c, waker, HEARD_MS)); /* the other's */
    ok(c, c->core->instance_deregister(c->store, instance_id(2), &c->err));
    put(c, KIND_OUTBOX, 2, STR("a"));
    assert_false(rings(c, waker, SILENCE_MS));
    store_waker_close(waker);
}

static void a_pause_wakes_everybody_and_says_so(void **state) {
    struct conf *c = *state;
    struct store_waker *waker = trusted_waker(c);
    if (waker == NULL)
        return;
    assert_false(waker->news);
    struct pause_row in = {.scope = PAUSE_STREAM, .name = STR("order-1"), .actor = STR("anna")};
    ok(c, c->store->ops->relay->pause_set(c->store, &in, &c->err));
    assert_true(rings(c, waker, HEARD_MS)); /* whether they wait or not */
    assert_true(waker->news);
    ok(c, c->core->wake(c->store, &c->err));
    assert_true(rings(c, waker, HEARD_MS));
    assert_false(waker->news);
    store_waker_close(waker);
}

static void a_wish_changes_nothing_else(void **state) {
    struct conf *c = *state;
    bool late = false;
    join(c, 1, OUTBOX_BIT);
    put(c, KIND_OUTBOX, 1, STR("a"));
    const char *before = state_text(c);
    ok(c, c->core->wait_begin(c->store, instance_id(1), OUTBOX_BIT, &late, &c->err));
    ok(c, c->core->wake(c->store, &c->err));
    assert_string_equal(state_text(c), before);
    ok(c, c->core->wait_end(c->store, instance_id(1), &c->err));
    ok(c, c->core->wait_end(c->store, instance_id(1), &c->err)); /* twice is fine */
    assert_string_equal(state_text(c), before);
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "1"); /* a poll finds it anyway */
}

static void an_append_wakes_who_may_have_a_receptor_on_events_to_feed(void **state) {
    struct conf *c = *state;
    struct event_pattern pattern = {PATTERN_GLOB, STR("*")};
    struct receptor_new in = {.name = STR("mail"), .patterns = &pattern, .pattern_count = 1};
    enum store_answer answer = 0;
    bool late = false;
    join(c, 1, KIND_BIT(KIND_INBOX));
    struct store_waker *waker = trusted_waker(c);
    if (waker == NULL)
        return;
    ok(c, c->core->wait_begin(c->store, instance_id(1), KIND_BIT(KIND_INBOX), &late, &c->err));
    append(c, "x", EXPECT_ANY, "Paid", 1, 1);
    assert_false(rings(c, waker, SILENCE_MS)); /* there is no receptor */
    ok(c, EVENTS(c)->receptor_register(c->store, &in, &answer, &c->err));
    append(c, "x", EXPECT_ANY, "Paid", 1, 2);
    assert_true(rings(c, waker, HEARD_MS));
    store_waker_close(waker);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_put_wakes_who_asked_for_its_kind),
    CONF_TEST(a_wish_lasts_three_minutes_and_can_be_made_again),
    CONF_TEST(a_wish_ends_with_its_instance),
    CONF_TEST(a_pause_wakes_everybody_and_says_so),
    CONF_TEST(a_wish_changes_nothing_else),
    CONF_TEST(an_append_wakes_who_may_have_a_receptor_on_events_to_feed),
};

CONF_GROUP(wake, tests);
