/* Moving rows of the intake table into the outbox. */
#include "store/sqlite/messages/put.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/sqlite/file/row.h"

enum { INTAKE_ROWS = 500, INTAKE_BYTES = 8 << 20, NUMBER_BYTES = 32 };

struct intake {
    pawl_outgoing messages[INTAKE_ROWS];
    size_t count;
    int64_t last; /* the number of the last row that was read */
};

static bool read_uuid(pawl_str text, pawl_uuid *id) {
    *id = uuid_nil();
    return str_absent(text) || uuid_parse(text, id);
}

/* False, with the reason in err: it cannot be a message. */
static bool check(const pawl_str ids[3], pawl_outgoing *message, pawl_error *err) {
    struct messages_put alone = {
        .kind = KIND_OUTBOX, .messages = message, .count = 1, .payload_bytes_max = PAWL_PAYLOAD_BYTES_MAX};
    if (!read_uuid(ids[0], &message->id) || !read_uuid(ids[1], &message->correlation_id) ||
        !read_uuid(ids[2], &message->causation_id)) {
        snprintf(err->text, sizeof(err->text), "id, correlation_id or causation_id is not a UUID");
        return false;
    }
    return check_put(&alone, err) == PAWL_OK;
}

static pawl_status keep(struct operation *op, int64_t number, const pawl_outgoing *message,
                        const pawl_error *why) {
    char name[NUMBER_BYTES];
    snprintf(name, sizeof(name), "intake %lld", (long long)number);
    return refused_keep(op, &(struct refused_row){.reason = REFUSED_MALFORMED,
                                                  .consumer = STR("intake"),
                                                  .topic = message->topic,
                                                  .message_id = str_from(name),
                                                  .detail = str_from(why->text),
                                                  .payload = message->payload});
}

static pawl_status read_rows(struct operation *op, struct intake *intake) {
    pawl_status status = PAWL_OK;
    size_t bytes = 0;
    struct statement s = SQL(op, SQLITE_Q_INTAKE_NEXT, INTAKE_ROWS);
    while (status == PAWL_OK && bytes < INTAKE_BYTES && statement_next(&s)) {
        pawl_error why = {0};
        pawl_outgoing *message = &intake->messages[intake->count];
        pawl_str ids[3] = {column_borrow(&s, 1), column_borrow(&s, 2), column_borrow(&s, 3)};
        row_read(&s, 4, &message_new_shape, op->scratch, message);
        intake->last = column_int(&s, 0);
        bytes += message->payload.len;
        if (check(ids, message, &why))
            intake->count++;
        else
            status = keep(op, intake->last, message, &why);
    }
    return statement_close(&s, status);
}

pawl_status intake_drain(struct operation *op) {
    struct intake *intake = NULL;
    int64_t first = 0;
    bool found = false;
    TRY(statement_number(statement_begin(op, SQLITE_Q_INTAKE_FIRST), &first, &found));
    if (!found)
        return PAWL_OK;
    intake = arena_alloc(op->scratch, sizeof(*intake));
    if (intake == NULL)
        return operation_no_memory(op);
    intake->count = 0;
    intake->last = first;
    TRY(read_rows(op, intake));
    struct messages_put put = {.kind = KIND_OUTBOX, .messages = intake->messages, .count = intake->count};
    struct put_result result;
    TRY(put_messages(op, &put, false, op->scratch, &result));
    return statement_run(SQL(op, SQLITE_Q_INTAKE_DELETE, intake->last));
}
