/* Messages as rows of output, and reading many of them page by page. */
#include "view/message.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "view/names.h"

/* Small enough that a page of big payloads fits into an arena, and halved when it does not. */
enum { PAGE_ROWS = 200 };

const struct column message_columns[MESSAGE_COLUMNS] = {
    {.key = "seq", .type = CELL_INT, .drop = 5},
    {.key = "id", .type = CELL_UUID},
    {.key = "kind", .type = CELL_TEXT, .drop = 3},
    {.key = "state", .type = CELL_TEXT},
    {.key = "stream", .type = CELL_TEXT, .cut = true},
    {.key = "type", .type = CELL_TEXT, .cut = true, .drop = 1},
    {.key = "topic", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "attempts", .type = CELL_INT, .drop = 2},
    {.key = "deaths", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "put", .type = CELL_TIME, .drop = 4},
    {.key = "scheduled", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "ended", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "reason", .type = CELL_TEXT, .drop = 6},
    {.key = "error", .type = CELL_TEXT, .content = true, .cut = true, .drop = 7, .least = ERROR_LEAST},
    {.key = "fingerprint", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "partition", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "lane", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "claimed_by", .type = CELL_UUID, .show = SHOW_WIDE},
    {.key = "token", .type = CELL_INT, .show = SHOW_WIDE},
    {.key = "lease_until", .type = CELL_TIME, .show = SHOW_WIDE},
    {.key = "attempt", .type = CELL_INT, .show = SHOW_JSON},
    {.key = "out_of_order", .type = CELL_BOOL, .show = SHOW_JSON},
    {.key = "consumer", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "correlation_id", .type = CELL_UUID, .show = SHOW_WIDE},
    {.key = "causation_id", .type = CELL_UUID, .show = SHOW_WIDE},
    {.key = "traceparent", .type = CELL_TEXT, .show = SHOW_WIDE},
    {.key = "headers", .type = CELL_JSON, .content = true, .show = SHOW_WIDE},
    {.key = "payload_bytes", .type = CELL_INT, .content = true, .show = SHOW_JSON},
    {.key = "payload", .type = CELL_JSON, .content = true, .show = SHOW_WIDE},
};

void message_cells(const struct message_row *row, struct cell cells[static MESSAGE_COLUMNS]) {
    const struct item *item = &row->item;
    bool leased = row->state == STATE_LEASED;
    const struct cell values[MESSAGE_COLUMNS] = {
        cell_int(item->seq),
        cell_uuid(item->id),
        cell_cstr(kind_name(item->kind)),
        cell_cstr(state_name(row->state)),
        cell_text(item->stream),
        cell_text(item->type),
        cell_text(item->topic),
        cell_int(row->attempts),
        cell_int(item->deaths),
        cell_time(item->put_ms),
        cell_time(row->scheduled_ms),
        cell_time(row->ended_ms),
        cell_cstr(reason_name(row->state, row->reason)),
        cell_text(row->error),
        cell_text(row->fingerprint),
        cell_int(item->partition),
        cell_int(item->lane),
        cell_uuid(row->claimed_by),
        leased ? cell_int(item->token) : cell_none(),
        cell_time(leased ? item->lease_until_ms : 0),
        cell_int(item->attempt),
        cell_bool(item->out_of_order),
        cell_text(item->consumer),
        cell_uuid(item->correlation_id),
        cell_uuid(item->causation_id),
        cell_text(item->traceparent),
        cell_text(item->headers),
        str_absent(item->payload) ? cell_none() : cell_int((int64_t)item->payload.len),
        cell_text(item->payload),
    };
    for (size_t i = 0; i < MESSAGE_COLUMNS; i++)
        cells[i] = values[i];
}

pawl_status messages_visit(struct store *store, struct message_filter filter, int64_t limit,
                           message_visit visit, void *self, pawl_error *err) {
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_set(err, PAWL_NO_MEMORY, "messages", "no memory for a page of messages");
    pawl_status status = PAWL_OK;
    int64_t seen = 0;
    int page = PAGE_ROWS;
    bool more = true;
    while (more && status == PAWL_OK) {
        struct message_rows rows;
        filter.limit = limit > 0 && limit - seen < page ? (int)(limit - seen) : page;
        arena_reset(arena);
        status = store->ops->view.messages(store, &filter, arena, &rows, err);
        if (status == PAWL_NO_MEMORY && page > 1) { /* big payloads: ask for fewer at once */
            page /= 2;
            status = PAWL_OK;
            continue;
        }
        for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
            status = visit(self, &rows.rows[i], err);
            seen++;
        }
        more = status == PAWL_OK && rows.next_seq > 0 && (limit == 0 || seen < limit);
        filter.after_seq = rows.next_seq;
    }
    arena_free(arena);
    return status;
}
