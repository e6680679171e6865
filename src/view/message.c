/* Output columns of messages, and reading many messages page by page. */
#include "view/message.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "view/names.h"
#include "view/output/row.h"

/* Small enough that a page of big payloads fits into an arena, and halved when it does not. */
enum { PAGE_ROWS = 1000 };

#define ROW struct message_row
const struct column message_columns[MESSAGE_COLUMNS] = {
    {.key = "seq", INT_OF(item.seq), .drop = 5},
    {.key = "id", UUID_OF(item.id)},
    {.key = "kind", WORD_OF(item.kind, kind_names), .drop = 3},
    {.key = "state", WORD_OF(state, state_names)},
    {.key = "stream", TEXT_OF(item.stream), .cut = true},
    {.key = "type", TEXT_OF(item.type), .cut = true, .drop = 1},
    {.key = "topic", TEXT_OF(item.topic), .show = SHOW_WIDE},
    {.key = "attempts", INT_OF(attempts), .drop = 2},
    {.key = "deaths", INT_OF(item.deaths), .show = SHOW_WIDE},
    {.key = "put", TIME_OF(item.put_ms), .drop = 4},
    {.key = "scheduled", TIME_OF(scheduled_ms), .show = SHOW_WIDE},
    {.key = "ended", TIME_OF(ended_ms), .show = SHOW_WIDE},
    {COLUMN(TEXT, "reason"), .drop = 6},
    {.key = "error", TEXT_OF(error), .content = true, .cut = true, .drop = 7, .least = ERROR_LEAST},
    {.key = "fingerprint", TEXT_OF(fingerprint), .show = SHOW_WIDE},
    {.key = "partition", INT_OF(item.partition), .show = SHOW_WIDE},
    {.key = "lane", INT_OF(item.lane), .show = SHOW_WIDE},
    {.key = "claimed_by", UUID_OF(claimed_by), .show = SHOW_WIDE},
    {COLUMN(INT, "token"), .show = SHOW_WIDE},
    {COLUMN(TIME, "lease_until"), .show = SHOW_WIDE},
    {.key = "attempt", INT_OF(item.attempt), .show = SHOW_JSON},
    {.key = "out_of_order", BOOL_OF(item.out_of_order), .show = SHOW_JSON},
    {.key = "consumer", TEXT_OF(item.consumer), .show = SHOW_WIDE},
    {.key = "correlation_id", UUID_OF(item.correlation_id), .show = SHOW_WIDE},
    {.key = "causation_id", UUID_OF(item.causation_id), .show = SHOW_WIDE},
    {.key = "traceparent", TEXT_OF(item.traceparent), .show = SHOW_WIDE},
    {.key = "headers", JSON_OF(item.headers), .content = true, .show = SHOW_WIDE},
    {COLUMN(INT, "payload_bytes"), .content = true, .show = SHOW_JSON},
    {.key = "payload", JSON_OF(item.payload), .content = true, .show = SHOW_WIDE},
};
#undef ROW

void message_cells(const struct message_row *row, struct cell cells[static MESSAGE_COLUMNS]) {
    const struct item *item = &row->item;
    bool leased = row->state == STATE_LEASED;
    const struct cell made[] = {
        cell_cstr(reason_name(row->state, row->reason)), leased ? cell_int(item->token) : cell_none(),
        cell_time(leased ? item->lease_until_ms : 0),
        str_absent(item->payload) ? cell_none() : cell_int((int64_t)item->payload.len)};
    row_cells(message_columns, MESSAGE_COLUMNS, row, made, cells);
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
