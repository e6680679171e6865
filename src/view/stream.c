/* Gathering streams with waiting messages. */
#include "view/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "view/message.h"
#include "view/names.h"
#include "view/output/row.h"

#define ROW struct stream_row
const struct column stream_columns[STREAM_COLUMNS] = {
    {.key = "stream", TEXT_OF(stream)},
    {.key = "kind", WORD_OF(kind, kind_names)},
    {.key = "blocked", INT_OF(counts[STATE_BLOCKED])},
    {.key = "dead", INT_OF(counts[STATE_DEAD])},
    {.key = "ready", INT_OF(counts[STATE_READY])},
    {.key = "leased", INT_OF(counts[STATE_LEASED])},
    {.key = "scheduled", INT_OF(counts[STATE_SCHEDULED])},
    {.key = "complete", BOOL_OF(complete), .show = SHOW_JSON},
    {.key = "first_state", WORD_OF(first_state, state_names)},
    {.key = "first_type", TEXT_OF(first_type), .cut = true, .drop = 2},
    {.key = "first_put", TIME_OF(first_put_ms), .drop = 1},
    {.key = "first_id", UUID_OF(first_id), .drop = 3},
};
#undef ROW

struct gather {
    struct arena *arena;
    struct stream_row *rows; /* one per message until they are folded */
    size_t count;
    int64_t left; /* of the state that is read */
    bool cut;     /* some state has more */
};

static pawl_status note(void *self, const struct message_row *row, pawl_error *err) {
    struct gather *gather = self;
    if (gather->left-- <= 0) {
        gather->cut = true;
        return PAWL_OK;
    }
    if (str_absent(row->item.stream))
        return PAWL_OK;
    struct stream_row *made = &gather->rows[gather->count];
    *made = (struct stream_row){.kind = row->item.kind,
                                .first_seq = row->item.seq,
                                .first_put_ms = row->item.put_ms,
                                .first_id = row->item.id,
                                .first_state = row->state};
    made->counts[row->state] = 1;
    made->stream = (pawl_str){arena_copy(gather->arena, row->item.stream.ptr, row->item.stream.len),
                              row->item.stream.len};
    made->first_type =
        (pawl_str){arena_copy(gather->arena, row->item.type.ptr, row->item.type.len), row->item.type.len};
    if (made->stream.ptr == NULL || made->first_type.ptr == NULL)
        return error_set(err, PAWL_NO_MEMORY, "streams", "out of memory");
    gather->count++;
    return PAWL_OK;
}

static int by_place(const void *left, const void *right) {
    const struct stream_row *a = left, *b = right;
    int order = str_compare(a->stream, b->stream);
    if (order == 0)
        order = (a->kind > b->kind) - (a->kind < b->kind);
    return order != 0 ? order : (a->first_seq > b->first_seq) - (a->first_seq < b->first_seq);
}

static int by_need(const void *left, const void *right) {
    const struct stream_row *a = left, *b = right;
    for (enum message_state state = STATE_BLOCKED; state <= STATE_DEAD; state++)
        if (a->counts[state] != b->counts[state])
            return a->counts[state] < b->counts[state] ? 1 : -1;
    return by_place(a, b);
}

/* Rows of one stream are together, the first message first. */
static size_t fold(struct stream_row *rows, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct stream_row *last = kept > 0 ? &rows[kept - 1] : NULL;
        if (last == NULL || last->kind != rows[i].kind || !str_equal(last->stream, rows[i].stream))
            rows[kept++] = rows[i];
        else
            last->counts[rows[i].first_state]++;
    }
    return kept;
}

pawl_status streams_waiting(struct store *store, enum store_kind kind, int per_state, struct arena *arena,
                            struct stream_rows *out, pawl_error *err) {
    struct gather gather = {.arena = arena};
    gather.rows = arena_array(arena, (size_t)per_state * STATE_DEAD, sizeof *gather.rows);
    if (gather.rows == NULL)
        return error_set(err, PAWL_NO_MEMORY, "streams", "out of memory");
    for (int state = STATE_READY; state <= STATE_DEAD; state++) {
        struct message_filter filter = {.kind = kind, .state = state, .lane = -1};
        gather.left = per_state;
        TRY(messages_visit(store, filter, (int64_t)per_state + 1, note, &gather, err));
    }
    qsort(gather.rows, gather.count, sizeof *gather.rows, by_place);
    size_t count = fold(gather.rows, gather.count);
    qsort(gather.rows, count, sizeof *gather.rows, by_need);
    for (size_t i = 0; i < count; i++)
        gather.rows[i].complete = !gather.cut;
    *out = (struct stream_rows){gather.rows, count};
    return PAWL_OK;
}
