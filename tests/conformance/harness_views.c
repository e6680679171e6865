/* Helpers for the views of a store. */
#include "conformance/harness.h"

static void must(struct conf *c, pawl_status status, const char *call) {
    expect_status_(c, PAWL_OK, status, call);
}

struct kind_counts counted_(struct conf *c, enum store_kind kind) {
    struct counts counts = {0};
    must(c, c->view->counts(c->store, &counts, &c->err), "counts");
    return counts.kind[kind];
}

static struct message_rows found(struct conf *c, int n) {
    struct message_rows rows = {0};
    must(c, c->view->message_find(c->store, message_id(n), c->arena, &rows, &c->err), "message_find");
    return rows;
}

struct message_row row_of_(struct conf *c, int n) {
    struct message_rows rows = found(c, n);
    if (rows.count != 1) {
        print_error("message %d: %zu rows instead of one\n", n, rows.count);
        _fail(c->file, c->line);
    }
    return rows.rows[0];
}

size_t rows_with_id_(struct conf *c, int n) { return found(c, n).count; }

static struct instance_row *instance_search(struct conf *c, int n) {
    struct instance_rows rows = {0};
    must(c, c->view->instances(c->store, c->arena, &rows, &c->err), "instances");
    for (size_t i = 0; i < rows.count; i++) {
        if (uuid_equal(rows.rows[i].id, instance_id(n)))
            return &rows.rows[i];
    }
    return NULL;
}

struct instance_row instance_row_(struct conf *c, int n) {
    struct instance_row *row = instance_search(c, n);
    if (row == NULL) {
        print_error("instance %d is not listed\n", n);
        _fail(c->file, c->line);
        return (struct instance_row){0};
    }
    return *row;
}

bool instance_listed_(struct conf *c, int n) { return instance_search(c, n) != NULL; }

struct lane_rows lanes_(struct conf *c, enum store_kind kind) {
    struct lane_rows rows = {0};
    must(c, c->view->lanes(c->store, kind, c->arena, &rows, &c->err), "lanes");
    assert_int_equal(rows.count, c->lanes);
    return rows;
}

struct why why_(struct conf *c, int n) {
    struct why why = {0};
    must(c, c->view->why(c->store, message_id(n), c->arena, &why, &c->err), "why");
    return why;
}

int count_owned(struct conf *c, enum store_kind kind, int n) {
    struct lane_rows rows = lanes_(c, kind);
    int owned = 0;
    for (size_t i = 0; i < rows.count; i++)
        owned += uuid_equal(rows.rows[i].owner, instance_id(n));
    return owned;
}

int count_free(struct conf *c, enum store_kind kind) {
    struct lane_rows rows = lanes_(c, kind);
    int free_lanes = 0;
    for (size_t i = 0; i < rows.count; i++)
        free_lanes += uuid_is_nil(rows.rows[i].owner);
    return free_lanes;
}

int count_draining(struct conf *c, enum store_kind kind) {
    struct lane_rows rows = lanes_(c, kind);
    int draining = 0;
    for (size_t i = 0; i < rows.count; i++)
        draining += rows.rows[i].draining;
    return draining;
}

int64_t count_moves(struct conf *c, enum store_kind kind) {
    struct lane_rows rows = lanes_(c, kind);
    int64_t moved = 0;
    for (size_t i = 0; i < rows.count; i++)
        moved += rows.rows[i].moves;
    return moved;
}
