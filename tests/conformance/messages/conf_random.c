/* A long random life: whatever is reported, expires or dies, a stream's effects stay in order and nothing is
 * lost. */
#include "conformance/harness.h"

enum { STREAMS = 9, MESSAGES = 400, HELD = 400, STEPS = 900 };

enum fate { FATE_NONE, FATE_WAITING, FATE_DONE };

/* What the test itself knows, to hold against what the store does. */
struct life {
    struct conf *c;
    uint64_t seed;
    int put;                  /* messages 1..put exist */
    enum fate fate[MESSAGES]; /* by number */
    struct item held[HELD];   /* everything ever granted and not yet reported by us; much of it is stale */
    int holder[HELD];
    int held_count;
    int instances[3];
    int next_instance;
};

static unsigned draw(struct life *life, unsigned below) {
    life->seed = life->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(life->seed >> 33) % below;
}

static pawl_str stream_of(struct life *life, int n) {
    /* Three lanes with three streams each. */
    return stream_on(life->c, (n % STREAMS) % 3, (n % STREAMS) / 3);
}

static void step_put(struct life *life) {
    if (life->put + 1 >= MESSAGES)
        return;
    int n = ++life->put;
    assert_int_equal(put(life->c, KIND_OUTBOX, n, stream_of(life, n)), ANSWER_APPLIED);
    life->fate[n] = FATE_WAITING;
}

static void step_claim(struct life *life) {
    int instance = life->instances[draw(life, 3)];
    struct messages_claim in = claim_of(instance, KIND_OUTBOX, 1 + (int)draw(life, 6));
    in.lease_ms = 3000;
    struct item_list list = claim_with(life->c, in);
    for (size_t i = 0; i < list.count && life->held_count < HELD; i++) {
        life->holder[life->held_count] = instance;
        life->held[life->held_count++] = list.items[i];
    }
}

/* Promise 3: when a message is done, every earlier one of its stream has ended. */
static void check_order(struct life *life, int n) {
    for (int earlier = n % STREAMS; earlier < n; earlier += STREAMS) {
        if (earlier < 1 || life->fate[earlier] == FATE_DONE)
            continue;
        struct message_row row = row_of(life->c, earlier);
        if (row.state != STATE_DEAD) {
            print_error("message %d was done while %d is in state %d\n", n, earlier, row.state);
            fail();
        }
    }
}

static void forget(struct life *life, int at) {
    life->held_count--;
    life->held[at] = life->held[life->held_count];
    life->holder[at] = life->holder[life->held_count];
}

static void step_report(struct life *life) {
    if (life->held_count == 0)
        return;
    int at = (int)draw(life, (unsigned)life->held_count);
    const struct item *item = &life->held[at];
    int n = id_number(item->id);
    unsigned what = draw(life, 10);
    enum store_answer answer = ANSWER_APPLIED;
    if (what < 6) {
        answer = complete(life->c, life->holder[at], item);
        if (answer == ANSWER_APPLIED) {
            assert_int_equal(life->fate[n], FATE_WAITING); /* never done twice */
            check_order(life, n);
            life->fate[n] = FATE_DONE;
        }
    } else if (what < 8) {
        struct fail_item failure = failure_of(item, "flaky", (int64_t)draw(life, 3000));
        failure.max_attempts = 4;
        answer = fail_with(life->c, life->holder[at], KIND_OUTBOX, failure).answer;
    } else if (what < 9) {
        answer = release_item(life->c, life->holder[at], item, (int64_t)draw(life, 1000));
    } else {
        (void)renew_item(life->c, life->holder[at], item, 3000);
        return;
    }
    if (answer != ANSWER_CONFLICT)
        forget(life, at);
}

static void step_members(struct life *life) {
    int at = (int)draw(life, 3);
    if (draw(life, 2) == 0)
        ok(life->c,
           life->c->core->instance_evict(life->c->store, instance_id(life->instances[at]), &life->c->err));
    else
        ok(life->c, life->c->core->instance_deregister(life->c->store, instance_id(life->instances[at]),
                                                       &life->c->err));
    life->instances[at] = life->next_instance++;
    join(life->c, life->instances[at], KIND_BIT(KIND_OUTBOX));
}

static void beat_all(struct life *life) {
    for (int i = 0; i < 3; i++)
        beat(life->c, life->instances[i]);
}

/* Promise 1: when the faults stop, everything that was put ends: done, or a dead letter. */
static void drain(struct life *life) {
    struct conf *c = life->c;
    for (int idle = 0, round = 0; idle < 12 && round < 2000; round++) {
        size_t granted = 0;
        beat_all(life);
        for (int i = 0; i < 3; i++) {
            struct item_list list = claim(c, life->instances[i], KIND_OUTBOX, 100);
            granted += list.count;
            for (size_t k = 0; k < list.count; k++) {
                int n = id_number(list.items[k].id);
                assert_int_equal(complete(c, life->instances[i], &list.items[k]), ANSWER_APPLIED);
                assert_int_equal(life->fate[n], FATE_WAITING);
                check_order(life, n);
                life->fate[n] = FATE_DONE;
            }
        }
        idle = granted == 0 ? idle + 1 : 0;
        advance(c, 1000);
    }
    struct kind_counts counts = counted(c, KIND_OUTBOX);
    assert_int_equal(counts.ready, 0);
    assert_int_equal(counts.aside, 0);
    assert_int_equal(counts.leased, 0);
    assert_int_equal(counts.put, life->put);
    assert_int_equal(counts.done + counts.dead, life->put);
    for (int n = 1; n <= life->put; n++) {
        if (life->fate[n] != FATE_DONE)
            assert_int_equal(row_of(c, n).state, STATE_DEAD);
    }
}

static void live(struct conf *c, uint64_t seed) {
    struct life *life = arena_alloc(c->arena, sizeof *life);
    assert_non_null(life);
    life->c = c;
    life->seed = seed;
    life->next_instance = 1;
    for (int i = 0; i < 3; i++) {
        life->instances[i] = life->next_instance++;
        join(c, life->instances[i], KIND_BIT(KIND_OUTBOX));
    }
    beat_all(life);
    beat_all(life);
    for (int step = 0; step < STEPS; step++) {
        unsigned what = draw(life, 100);
        if (what < 25)
            step_put(life);
        else if (what < 50)
            step_claim(life);
        else if (what < 85)
            step_report(life);
        else if (what < 97)
            advance(c, (int64_t)draw(life, 1500));
        else if (what < 99)
            beat_all(life);
        else
            step_members(life);
        if (step % 100 == 0)
            check_now(c);
    }
    drain(life);
}

static void a_random_life_keeps_order_and_loses_nothing(void **state) { live(*state, 1); }
static void another_random_life_keeps_order_and_loses_nothing(void **state) { live(*state, 20260115); }

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_random_life_keeps_order_and_loses_nothing),
    CONF_TEST(another_random_life_keeps_order_and_loses_nothing),
};

CONF_GROUP(random, tests);
