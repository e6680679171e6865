/* Series: points are summed up, folded into longer steps without losing a count, and bounded in number; what
 * waits is written down once per step, and only while something happens. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "conformance/harness.h"

enum { HOUR_MS = 3600000, DAY_MS = 86400000, OUTBOX_BIT = KIND_BIT(KIND_OUTBOX) };

/* So many ended in that bucket, half of them as failures, after a wait in the next one. */
static struct series_point point_of(int scope, int kind, const char *name, int64_t count, int bucket) {
    struct series_point point = {.scope = scope,
                                 .kind = kind,
                                 .name = {name, strlen(name)},
                                 .done = count - count / 2,
                                 .failed = count / 2};
    point.handle[bucket] = count;
    point.wait[bucket + 1] = count;
    return point;
}

static void add(struct conf *c, const struct series_point *points, size_t count) {
    const struct rollups_new in = {.points = points, .point_count = count};
    expect_status_(c, PAWL_OK, c->core->rollups_add(c->store, &in, &c->err), "rollups_add");
}

static void add_one(struct conf *c, int scope, int kind, const char *name, int64_t count) {
    const struct series_point point = point_of(scope, kind, name, count, 4);
    add(c, &point, 1);
}

static void fold(struct conf *c) {
    const struct maintain_in in = {.rows_max = 1000};
    struct maintain_result swept;
    expect_status_(c, PAWL_OK, c->core->maintain(c->store, &in, &swept, &c->err), "maintain");
}

/* Everything of the last span in such steps, whatever the series. */
static struct series_rows read_back(struct conf *c, int64_t span_ms, int64_t step_ms) {
    const struct series_ask ask = {
        .from_ms = c->now_ms - span_ms, .to_ms = c->now_ms + 1, .step_ms = step_ms};
    struct series_rows found = {NULL, 0};
    expect_status_(c, PAWL_OK, c->view->series(c->store, &ask, c->arena, &found, &c->err), "series");
    return found;
}

struct sums {
    int64_t steps, series, done, failed, handle, wait;
};

static struct sums sums_of(struct series_rows rows) {
    struct sums sums = {0};
    for (size_t i = 0; i < rows.count; i++) {
        const struct series_row *row = &rows.rows[i];
        sums.series += row->at_ms < 0;
        sums.steps += row->at_ms >= 0;
        sums.done += row->done;
        sums.failed += row->failed;
        for (int bucket = 0; bucket < ROLLUP_BUCKETS; bucket++) {
            sums.handle += row->handle[bucket];
            sums.wait += row->wait[bucket];
        }
    }
    return sums;
}

/* The step of a kind that begins then; -1: what was seen last. */
static const struct series_row *row_at(struct series_rows rows, int scope, int kind, int64_t at_ms) {
    for (size_t i = 0; i < rows.count; i++)
        if (rows.rows[i].scope == scope && rows.rows[i].kind == kind && rows.rows[i].at_ms == at_ms)
            return &rows.rows[i];
    return NULL;
}

static void points_of_a_step_are_one(void **state) {
    struct conf *c = *state;
    assert_int_equal(read_back(c, HOUR_MS, SERIES_STEP_MS).count, 0);
    advance(c, SERIES_STEP_MS - c->now_ms % SERIES_STEP_MS);
    int64_t first_ms = c->now_ms;
    const struct series_point two[] = {point_of(SERIES_KIND, ROLLUP_OUTBOX, "", 5, 3),
                                       point_of(SERIES_QUEUE, ROLLUP_JOB, "mail", 2, 7)};
    add(c, two, 2);
    advance(c, SERIES_STEP_MS - 1);
    add(c, two, 1);
    advance(c, 1);
    add(c, two, 1);
    struct series_rows rows = read_back(c, HOUR_MS, SERIES_STEP_MS);
    const struct series_row *row = row_at(rows, SERIES_KIND, ROLLUP_OUTBOX, first_ms);
    assert_non_null(row);
    assert_int_equal(row->done, 6);
    assert_int_equal(row->failed, 4);
    assert_int_equal(row->handle[3], 10);
    assert_int_equal(row->wait[4], 10);
    assert_int_equal(row->ready, -1);
    row = row_at(rows, SERIES_KIND, ROLLUP_OUTBOX, first_ms + SERIES_STEP_MS);
    assert_int_equal(row->done + row->failed, 5);
    row = row_at(rows, SERIES_QUEUE, ROLLUP_JOB, first_ms);
    assert_true(str_equal(row->name, STR("mail")));
    assert_int_equal(row->handle[7], 2);
    /* In longer steps, and of one series. */
    const struct series_ask ask = {.scope = SERIES_KIND,
                                   .kind = ROLLUP_OUTBOX,
                                   .from_ms = first_ms - first_ms % HOUR_MS,
                                   .to_ms = c->now_ms + HOUR_MS,
                                   .step_ms = HOUR_MS};
    ok(c, c->view->series(c->store, &ask, c->arena, &rows, &c->err));
    assert_true(rows.count == 2 || rows.count == 3);
    assert_int_equal(sums_of(rows).handle, 15);
}

/* Whatever the age: no count is lost and none counted twice, not even while what is old is being folded. */
static void folding_keeps_every_sum(void **state) {
    struct conf *c = *state;
    int64_t handled = 0;
    /* Two and a half hours of work, then a day without any, and again. */
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 150; i++) {
            add_one(c, SERIES_KIND, ROLLUP_OUTBOX, "", 1 + i % 7);
            add_one(c, SERIES_HANDLER, ROLLUP_INBOX, "order.*", 2);
            handled += 1 + i % 7 + 2;
            advance(c, 60000 - 7);
            if (i % 10 == 0)
                fold(c);
        }
        struct sums sums = sums_of(read_back(c, 8 * (int64_t)DAY_MS, SERIES_QUARTER_MS));
        assert_int_equal(sums.handle, handled);
        assert_int_equal(sums.wait, handled);
        assert_int_equal(sums.done + sums.failed, handled);
        advance(c, DAY_MS + 2 * HOUR_MS);
    }
    for (int i = 0; i < 60; i++)
        fold(c);
    /* All of it is older than a day: a quarter of an hour each, and so no more rows than quarters. */
    struct sums finest = sums_of(read_back(c, 5 * (int64_t)DAY_MS, SERIES_QUARTER_MS));
    assert_int_equal(finest.handle, handled);
    assert_true(finest.steps <= 2 * 3 * 11);
}

static void a_point_lives_for_thirty_days(void **state) {
    struct conf *c = *state;
    add_one(c, SERIES_QUEUE, ROLLUP_JOB, "mail", 4);
    advance(c, SERIES_KEPT_MS - HOUR_MS);
    for (int i = 0; i < 3; i++)
        fold(c);
    assert_int_equal(sums_of(read_back(c, SERIES_KEPT_MS, DAY_MS)).handle, 4);
    advance(c, 2 * HOUR_MS);
    fold(c);
    assert_int_equal(read_back(c, SERIES_KEPT_MS, DAY_MS).count, 0); /* nor is the name kept */
}

/* The number of rows is bounded whatever people call their queues. */
static void names_are_bounded(void **state) {
    struct conf *c = *state;
    char name[16];
    for (int i = 0; i < 3 * SERIES_NAMES_MAX; i++) {
        snprintf(name, sizeof name, "queue-%03d", i);
        add_one(c, SERIES_QUEUE, ROLLUP_JOB, name, 1);
        add_one(c, SERIES_HANDLER, ROLLUP_JOB, name, 1);
    }
    struct series_rows rows = read_back(c, HOUR_MS, SERIES_STEP_MS);
    struct sums sums = sums_of(rows);
    assert_int_equal(sums.series, 2 * (SERIES_NAMES_MAX + 1));
    assert_int_equal(sums.handle, 6 * SERIES_NAMES_MAX);
    const struct series_row *others = row_at(rows, SERIES_QUEUE, 0, c->now_ms - c->now_ms % SERIES_STEP_MS);
    assert_non_null(others);
    assert_int_equal(others->name.len, 0);
    assert_int_equal(others->handle[4], 2 * SERIES_NAMES_MAX);
}

static void what_waits_is_seen_once_per_step(void **state) {
    struct conf *c = *state;
    advance(c, SERIES_STEP_MS - c->now_ms % SERIES_STEP_MS);
    int64_t first_ms = c->now_ms;
    put_range(c, KIND_OUTBOX, 1, 3, STR("a"));
    advance(c, 500);
    add_one(c, SERIES_KIND, ROLLUP_INBOX, "", 1);
    struct series_rows rows = read_back(c, HOUR_MS, SERIES_STEP_MS);
    const struct series_row *row = row_at(rows, SERIES_KIND, ROLLUP_OUTBOX, first_ms);
    assert_non_null(row);
    assert_int_equal(row->ready, 3);
    assert_int_equal(row->oldest_age_ms, 500);
    assert_int_equal(row->handle[4], 0);
    assert_int_equal(row_at(rows, SERIES_KIND, ROLLUP_OUTBOX, -1)->ready, 3);
    assert_null(row_at(rows, SERIES_KIND, ROLLUP_PERSPECTIVE, -1));
    /* Not again in this step; of the next one, also that nothing waits any more; then no more. */
    put_range(c, KIND_OUTBOX, 4, 5, STR("a"));
    add_one(c, SERIES_KIND, ROLLUP_INBOX, "", 1);
    join(c, 1, OUTBOX_BIT);
    complete_all(c, 1, claim(c, 1, KIND_OUTBOX, 10));
    advance(c, SERIES_STEP_MS);
    add_one(c, SERIES_KIND, ROLLUP_INBOX, "", 1);
    advance(c, SERIES_STEP_MS);
    add_one(c, SERIES_KIND, ROLLUP_INBOX, "", 1);
    rows = read_back(c, HOUR_MS, SERIES_STEP_MS);
    assert_int_equal(row_at(rows, SERIES_KIND, ROLLUP_OUTBOX, first_ms)->ready, 3);
    assert_int_equal(row_at(rows, SERIES_KIND, ROLLUP_OUTBOX, first_ms + SERIES_STEP_MS)->ready, 0);
    assert_null(row_at(rows, SERIES_KIND, ROLLUP_OUTBOX, first_ms + 2 * SERIES_STEP_MS));
    assert_int_equal(row_at(rows, SERIES_KIND, ROLLUP_OUTBOX, -1)->ready, 0);
}

/* Folded gauges are the highest. */
static void the_highest_backlog_stays(void **state) {
    struct conf *c = *state;
    advance(c, SERIES_QUARTER_MS - c->now_ms % SERIES_QUARTER_MS);
    int64_t first_ms = c->now_ms;
    for (int i = 0; i < 4; i++) {
        put_range(c, KIND_OUTBOX, 10 * i + 1, 10 * i + 5, STR("a"));
        add_one(c, SERIES_KIND, ROLLUP_OUTBOX, "", 1);
        advance(c, SERIES_STEP_MS);
    }
    advance(c, 2 * DAY_MS);
    for (int i = 0; i < 3; i++)
        fold(c);
    const struct series_row *row =
        row_at(read_back(c, 3 * DAY_MS, SERIES_QUARTER_MS), SERIES_KIND, ROLLUP_OUTBOX, first_ms);
    assert_non_null(row);
    assert_int_equal(row->ready, 20);
    assert_int_equal(row->oldest_age_ms, 3 * SERIES_STEP_MS);
    assert_int_equal(row->handle[4], 4);
}

static void a_question_has_limits(void **state) {
    struct conf *c = *state;
    struct series_rows rows;
    const struct series_ask wrong[] = {
        {.from_ms = 1, .to_ms = 2, .step_ms = SERIES_STEP_MS - 1},
        {.from_ms = 0, .to_ms = (PAWL_SERIES_POINTS_MAX + 1) * SERIES_STEP_MS, .step_ms = SERIES_STEP_MS},
        {.scope = SERIES_HANDLER + 1, .from_ms = 1, .to_ms = 2, .step_ms = SERIES_STEP_MS}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_status_(c, PAWL_INVALID, c->view->series(c->store, &wrong[i], c->arena, &rows, &c->err),
                       "series");
    struct series_point point = point_of(SERIES_HANDLER + 1, 0, "", 1, 0);
    const struct rollups_new in = {.points = &point, .point_count = 1};
    expect_status_(c, PAWL_INVALID, c->core->rollups_add(c->store, &in, &c->err), "rollups_add");
    assert_int_equal(read_back(c, HOUR_MS, SERIES_STEP_MS).count, 0);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(points_of_a_step_are_one),
    CONF_TEST(folding_keeps_every_sum),
    CONF_TEST(a_point_lives_for_thirty_days),
    CONF_TEST(names_are_bounded),
    CONF_TEST(what_waits_is_seen_once_per_step),
    CONF_TEST(the_highest_backlog_stays),
    CONF_TEST(a_question_has_limits),
};

CONF_GROUP(series, tests);
