/* Messages of appends and turns meet perspectives that are no longer what their threads last read of them,
 * and leave what they have no time for to the next turn. */
#include "support/check.h"

#include "base/str.h"
#include "base/time/clock.h"
#include "support/sqlitefile.h"
#include "work/perspective/int.h"

enum { INSTANCE = 1, BACKFILL_MAX = 100 };

struct stage {
    struct store *store;
    struct arena *arena;
    struct handler_table *table;
    struct perspectives *all;
    pawl_error err;
};

static void must(struct stage *s, pawl_status status) {
    if (status != PAWL_OK)
        fail_msg("%s: %s", s->err.op, s->err.text);
}

static void append(struct stage *s) {
    pawl_event event = {.type = STR("Added"), .payload = STR("{}")};
    struct events_append in = {.stream = STR("s"), .expected = EXPECT_ANY, .events = &event, .count = 1};
    struct append_result out;
    struct stamp_result stamped;
    must(s, s->store->ops->events.events_append(s->store, &in, s->arena, &out, &s->err));
    must(s, s->store->ops->events.events_stamp(s->store, 1, &stamped, &s->err));
}

static void define_run(struct stage *s, int version, const char *key, enum perspective_run run, int batch) {
    struct event_pattern pattern = {PATTERN_EXACT, STR("Added")};
    struct perspective_new in = {.name = STR("log"),
                                 .version = version,
                                 .patterns = &pattern,
                                 .pattern_count = 1,
                                 .batch = batch,
                                 .run = run};
    struct perspective_registered out;
    bool done = false;
    if (run == RUN_SQL)
        in.target = STR("INSERT INTO log SELECT stream, version FROM event_rows(?1)");
    must(s, s->store->ops->events.perspective_register(s->store, &in, &out, &s->err));
    while (!done)
        must(s, s->store->ops->events.perspective_backfill(s->store, str_from(key), BACKFILL_MAX, &done,
                                                           &s->err));
}

static void define(struct stage *s, int version, const char *key) { define_run(s, version, key, RUN_SQL, 0); }

/* Applies what is due of it; how many streams that were. */
static size_t advance(struct stage *s, const char *key) {
    struct perspective_advance in = {.instance = sqlitefile_id(INSTANCE), .perspective = str_from(key)};
    struct advance_result out = {0};
    must(s, s->store->ops->events.perspective_advance(s->store, &in, s->arena, &out, &s->err));
    for (size_t i = 0; i < out.count; i++) {
        if (out.items[i].answer != ANSWER_APPLIED)
            fail_msg("%s: %.*s", key, STR_ARG(out.items[i].error));
    }
    return out.count;
}

static void set_up(struct stage *s, const char *path) {
    struct log quiet = {.level = LOG_LEVEL_OFF};
    char text[64];
    sqlitefile_migrate(path);
    sqlitefile_sql(path, "CREATE TABLE log (stream TEXT, version INTEGER)", text);
    s->store = sqlitefile_open(path);
    s->arena = arena_create(0);
    sqlitefile_join(s->store, INSTANCE);
    struct perspectives_config config = {
        .store = sqlitefile_config(path), .lease_ms = 60000, .poll_ms = 1000};
    must(s, handler_table_create(&s->table, &s->err));
    must(s, perspectives_create(&config, s->table, &s->all, &s->err));
    perspectives_tick(s->all, sqlitefile_id(INSTANCE), &quiet);
}

static void tear_down(struct stage *s) {
    perspectives_free(s->all);
    handler_table_free(s->table);
    arena_free(s->arena);
    store_close(s->store);
}

/* The list of perspectives, as every message reads it now and then. */
static struct projector *read_list(struct stage *s) {
    struct projector *projector = projector_take(s->all, &s->err);
    assert_non_null(projector);
    must(s, projector_refresh(s->all, projector, &s->err));
    projector_give(s->all, projector);
    return projector;
}

static enum handler_outcome handle_message(struct stage *s, const stop_flag *cancel) {
    struct item item = {.stream = STR("s"), .attempt = 1};
    const struct item *items[] = {&item};
    int group = 0;
    struct handler_verdict verdict = {.outcome = HANDLED_NOT_RUN};
    struct handler_batch batch = {.items = items,
                                  .groups = &group,
                                  .count = 1,
                                  .fence_ms = INT64_MAX,
                                  .cancel = cancel,
                                  .verdicts = &verdict};
    perspectives_wake(&batch, s->all);
    return verdict.outcome;
}

/* The version that the message would apply is retired meanwhile; its successor has a backlog, so that the
 * message only writes down for it that the stream is behind. covers: P43 B0.12 */
static void a_switch_between_the_list_and_the_message(void **fixture) {
    struct sqlitefile *file = *fixture;
    struct stage s = {0};
    set_up(&s, file->path);
    define(&s, 1, "log@1");
    perspectives_backlog_set(s.all, STR("log@1"), false);
    append(&s);
    define(&s, 2, "log@2");
    struct projector *projector = read_list(&s);
    assert_int_equal(projector->key_count, 2);
    perspectives_backlog_set(s.all, STR("log@2"), true);
    assert_int_equal(advance(&s, "log@2"), 1);
    struct perspective_switch in = {.name = STR("log"), .version = 2};
    struct switch_result switched;
    must(&s, s.store->ops->events.perspective_switch(s.store, &in, s.arena, &switched, &s.err));
    assert_int_equal(switched.answer, ANSWER_APPLIED);
    append(&s);
    projector->read_ms = clock_boot_ms(); /* it was read a moment ago */
    assert_int_equal(handle_message(&s, NULL), HANDLED_DONE);
    assert_int_equal(advance(&s, "log@2"), 1);
    tear_down(&s);
}

/* Its time is over with the first batch. */
static pawl_status apply_and_stop(const pawl_perspective_call *call, void *self, pawl_error *err) {
    (void)call;
    (void)err;
    stop_set(self, STOP_FENCED);
    return PAWL_OK;
}

static void what_a_message_leaves_has_a_turn(void **fixture) {
    struct sqlitefile *file = *fixture;
    struct stage s = {0};
    stop_flag stop = STOP_NONE;
    set_up(&s, file->path);
    s.all->config.poll_ms = INT32_MAX; /* no other turn comes by itself */
    must(&s, perspectives_function(s.all, STR("log"), 0, apply_and_stop, &stop, &s.err));
    define_run(&s, 1, "log@1", RUN_FUNCTION, 1);
    append(&s);
    append(&s);
    assert_int_equal(perspectives_turns(s.all, STR("log@1")), 1);
    perspectives_backlog_set(s.all, STR("log@1"), false);
    assert_int_equal(handle_message(&s, &stop), HANDLED_DONE);
    assert_int_equal(stop_read(&stop), STOP_FENCED);
    assert_int_equal(perspectives_turns(s.all, STR("log@1")), 1);
    tear_down(&s);
}

/* A claim, and one turn of what it granted. */
static void claim_and_turn(struct stage *s) {
    struct perspectives_exchange in = {
        .instance = sqlitefile_id(INSTANCE), .claim_max = 1, .lease_ms = 60000};
    struct perspectives_answer out = {0};
    struct handler_verdict verdict = {.outcome = HANDLED_NOT_RUN};
    int64_t version = 0;
    s->all->claimer.read_ms = 0; /* it is old */
    must(s, perspectives_tell(s->all, s->store, &in, s->arena, &out, &s->err));
    assert_true(out.count > 0);
    perspective_turn(s->all, &out.granted[out.count - 1], NULL, &verdict, &version);
    assert_int_equal(verdict.outcome, HANDLED_DONE);
}

/* A turn reads the list only when the claim that granted it has seen another. */
static void a_turn_follows_the_list_of_the_claim(void **fixture) {
    struct sqlitefile *file = *fixture;
    struct stage s = {0};
    set_up(&s, file->path);
    s.all->config.poll_ms = 0; /* every claim gives a turn */
    define(&s, 1, "log@1");
    struct projector *projector = read_list(&s);
    projector->read_ms = 1;
    claim_and_turn(&s);
    assert_int_equal(projector->read_ms, 1);
    define(&s, 2, "log@2");
    claim_and_turn(&s);
    assert_true(projector->read_ms > 1);
    assert_int_equal(projector->key_count, 2);
    tear_down(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_switch_between_the_list_and_the_message, sqlitefile_setup,
                                        sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(what_a_message_leaves_has_a_turn, sqlitefile_setup,
                                        sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(a_turn_follows_the_list_of_the_claim, sqlitefile_setup,
                                        sqlitefile_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
