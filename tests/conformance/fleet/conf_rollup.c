/* Rollups: counts are added up cell by cell; a call with an invalid cell is refused as a whole. */
#include "conformance/harness.h"

static struct rollup_cells read_all(struct conf *c) {
    struct rollup_cells found = {NULL, 0};
    expect_status_(c, PAWL_OK, c->view->rollups(c->store, c->arena, &found, &c->err), "rollups");
    return found;
}

static void nothing_was_counted_at_first(void **state) {
    struct conf *c = *state;
    assert_int_equal(read_all(c).count, 0);
    ok(c, c->core->rollups_add(c->store, &(struct rollups_new){NULL, 0, NULL, 0}, &c->err));
    assert_int_equal(read_all(c).count, 0);
}

/* covers: C42 J38 */
static void cells_are_added_up(void **state) {
    struct conf *c = *state;
    const struct rollup_cell first[] = {{ROLLUP_WAIT, ROLLUP_JOB, ROLLUP_DONE, 3, 2, 700},
                                        {ROLLUP_HANDLE, ROLLUP_OUTBOX, ROLLUP_RETRY, 18, 1, 9000000000},
                                        {ROLLUP_HANDLE, ROLLUP_OUTBOX, ROLLUP_DONE, 0, 5, 50}};
    const struct rollup_cell second[] = {{ROLLUP_HANDLE, ROLLUP_OUTBOX, ROLLUP_DONE, 0, 7, 0},
                                         {ROLLUP_HANDLE, ROLLUP_OUTBOX, ROLLUP_DONE, 1, 1, 900}};
    const struct rollup_cell sums[] = {{ROLLUP_HANDLE, ROLLUP_OUTBOX, ROLLUP_DONE, 0, 12, 50},
                                       {ROLLUP_HANDLE, ROLLUP_OUTBOX, ROLLUP_DONE, 1, 1, 900},
                                       {ROLLUP_HANDLE, ROLLUP_OUTBOX, ROLLUP_RETRY, 18, 1, 9000000000},
                                       {ROLLUP_WAIT, ROLLUP_JOB, ROLLUP_DONE, 3, 2, 700}};
    int64_t counts = 0;
    ok(c, c->core->rollups_add(c->store, &(struct rollups_new){first, 3, NULL, 0}, &c->err));
    ok(c, c->core->rollups_add(c->store, &(struct rollups_new){second, 2, NULL, 0}, &c->err));
    struct rollup_cells found = read_all(c);
    assert_int_equal(found.count, 4);
    for (size_t i = 0; i < found.count; i++) {
        const struct rollup_cell *cell = &found.cells[i];
        assert_int_equal(cell->measure, sums[i].measure);
        assert_int_equal(cell->kind, sums[i].kind);
        assert_int_equal(cell->result, sums[i].result);
        assert_int_equal(cell->bucket, sums[i].bucket);
        assert_int_equal(cell->count, sums[i].count);
        counts += cell->sum;
    }
    /* A sum may stand in any bucket of its series. */
    struct rollup_histogram all =
        rollup_histogram(found.cells, found.count, ROLLUP_HANDLE, ROLLUP_OUTBOX, -1);
    assert_int_equal(all.sum, 9000000950);
    assert_int_equal(counts, 9000001650);
}

static void what_is_no_cell_is_refused_whole(void **state) {
    struct conf *c = *state;
    const struct rollup_cell good = {ROLLUP_CLAIM, ROLLUP_MESSAGES, ROLLUP_EMPTY, 2, 1, 1};
    const struct rollup_cell wrong[] = {{0, 0, 0, 0, 1, 1},
                                        {ROLLUP_MEASURES, 0, 0, 0, 1, 1},
                                        {ROLLUP_CLAIM, ROLLUP_KINDS, 0, 0, 1, 1},
                                        {ROLLUP_CLAIM, 0, ROLLUP_RESULTS, 0, 1, 1},
                                        {ROLLUP_CLAIM, 0, 0, ROLLUP_BUCKETS, 1, 1},
                                        {ROLLUP_CLAIM, 0, 0, 0, -1, 1},
                                        {ROLLUP_CLAIM, 0, 0, 0, 1, -1},
                                        good};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        const struct rollup_cell both[] = {good, wrong[i]};
        expect_status_(c, PAWL_INVALID,
                       c->core->rollups_add(c->store, &(struct rollups_new){both, 2, NULL, 0}, &c->err),
                       "rollups_add");
    }
    assert_int_equal(read_all(c).count, 0);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(nothing_was_counted_at_first),
    CONF_TEST(cells_are_added_up),
    CONF_TEST(what_is_no_cell_is_refused_whole),
};

CONF_GROUP(rollup, tests);
