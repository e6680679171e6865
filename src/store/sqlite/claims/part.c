/* The parts of claims: loading, marking and writing them. */
#include "store/sqlite/claims/part.h"

#include <endian.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/uuid.h"
#include "store/sqlite/file/row.h"

enum { ITEM_BYTES = 24, ITEM_ID_OFFSET = 8 };

/* claim_of_token, claim_of_lane and claim_of_request select it, marks and items. */
LOCAL_SHAPE(part, struct part, M(token), M(part), M(kind), M(lane), M(instance), M(source), M(suspect),
            M(state), M(policy), M(max_attempts), M(began_ms), M(lease_until_ms), M(request));
enum { COLUMN_MARKS = sizeof part_members / sizeof *part_members, COLUMN_ITEMS };
/* Without the request, before which the number of its open items is written. */
static const struct row_shape part_grant = {part_members, COLUMN_MARKS - 1, sizeof(struct part)};

static struct part *find_loaded(struct operation *op, int64_t token, int number) {
    for (struct part *part = op->parts; part != NULL; part = part->next)
        if (part->token == token && part->part == number)
            return part;
    return NULL;
}

static void link_part(struct operation *op, struct part *part) {
    /* Kept in the order (token, part), the order in which parts end and are examined. New tokens are the
     * highest, so this walks only if several parts are loaded. */
    struct part **at = &op->parts;
    while (*at != NULL &&
           ((*at)->token < part->token || ((*at)->token == part->token && (*at)->part < part->part)))
        at = &(*at)->next;
    part->next = *at;
    *at = part;
}

static void decode_items(struct statement *s, struct part *part, struct arena *arena) {
    const uint8_t *items = sqlite3_column_blob(s->stmt, COLUMN_ITEMS);
    const uint8_t *marks = sqlite3_column_blob(s->stmt, COLUMN_MARKS);
    size_t items_len = (size_t)sqlite3_column_bytes(s->stmt, COLUMN_ITEMS);
    size_t count = (size_t)sqlite3_column_bytes(s->stmt, COLUMN_MARKS);
    part->forgotten = items == NULL;
    if (items == NULL)
        return;
    if (items_len != count * ITEM_BYTES || marks == NULL) {
        s->rc = SQLITE_CORRUPT;
        return;
    }
    part->items = arena_array(arena, count, sizeof(*part->items));
    if (part->items == NULL) {
        s->rc = SQLITE_NOMEM;
        return;
    }
    part->count = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t seq;
        memcpy(&seq, items + i * ITEM_BYTES, sizeof(seq));
        part->items[i].seq = (int64_t)le64toh(seq);
        memcpy(part->items[i].id.b, items + i * ITEM_BYTES + ITEM_ID_OFFSET, sizeof(pawl_uuid));
        part->items[i].mark = marks[i];
        part->open += marks[i] == MARK_OPEN;
    }
}

/* The part of the statement's row, unless it is loaded already. */
static void read_part(struct operation *op, struct statement *s) {
    if (find_loaded(op, column_int(s, 0), (int)column_int(s, 1)) != NULL)
        return;
    struct part *part = arena_array(op->scratch, 1, sizeof(*part));
    if (part == NULL) {
        s->rc = SQLITE_NOMEM;
        return;
    }
    row_read(s, 0, &part_shape, op->scratch, part);
    decode_items(s, part, op->scratch);
    if (s->rc == SQLITE_OK)
        link_part(op, part);
}

static pawl_status read_parts(struct operation *op, struct statement *s) {
    while (statement_next(s))
        read_part(op, s);
    return statement_end(s);
}

static struct part *first_of(struct operation *op, int64_t token) {
    struct part *part = op->parts;
    while (part != NULL && part->token != token)
        part = part->next;
    return part;
}

struct part *part_next_of(struct part *part) {
    return part->next != NULL && part->next->token == part->token ? part->next : NULL;
}

pawl_status part_load_token(struct operation *op, int64_t token, struct part **first) {
    struct statement s = SQL(op, SQLITE_Q_CLAIM_OF_TOKEN, token);
    TRY(read_parts(op, &s));
    *first = first_of(op, token);
    return PAWL_OK;
}

pawl_status part_load_lane(struct operation *op, enum store_kind kind, int lane) {
    struct statement s = SQL(op, SQLITE_Q_CLAIM_OF_LANE, kind, lane);
    return read_parts(op, &s);
}

pawl_status part_load_request(struct operation *op, const struct messages_claim *in) {
    struct statement s = SQL(op, SQLITE_Q_CLAIM_OF_REQUEST, in->request, in->kind, in->instance);
    return read_parts(op, &s);
}

pawl_status part_load_active(struct operation *op) {
    struct statement s = statement_begin(op, SQLITE_Q_VIEW_CLAIMS);
    return read_parts(op, &s);
}

struct part *part_next_active(struct operation *op, struct part *after, enum store_kind kind, int lane) {
    struct part *part = after == NULL ? op->parts : after->next;
    while (part != NULL && (part->kind != kind || part->lane != lane || part->state != CLAIM_ACTIVE))
        part = part->next;
    return part;
}

static pawl_status give_key(struct operation *op, struct part_item *item, pawl_str key) {
    item->key.ptr = arena_copy(op->scratch, key.ptr, key.len);
    if (item->key.ptr == NULL)
        return operation_no_memory(op);
    item->key.len = key.len;
    item->key_hash = fnv1a64(key);
    return PAWL_OK;
}

static pawl_status load_message_keys(struct operation *op, struct part *part) {
    size_t first = 0;
    while (first < part->count && part->items[first].mark != MARK_OPEN)
        first++;
    if (first == part->count)
        return PAWL_OK;
    struct statement s = SQL(op, SQLITE_Q_MESSAGE_KEYS, part->kind, part->lane, part->items[first].seq,
                             part->items[part->count - 1].seq);
    pawl_status status = PAWL_OK;
    for (size_t i = first; status == PAWL_OK && statement_next(&s);) {
        int64_t seq = column_int(&s, 0);
        while (i < part->count && part->items[i].seq < seq)
            i++;
        if (i < part->count && part->items[i].seq == seq)
            status = give_key(op, &part->items[i], column_borrow(&s, 1));
    }
    return statement_close(&s, status);
}

static pawl_status load_aside_key(struct operation *op, const struct part *part, struct part_item *item) {
    struct statement s = SQL(op, SQLITE_Q_ASIDE_KEY, part->kind, item->seq);
    pawl_status status = PAWL_OK;
    if (statement_next(&s))
        status = give_key(op, item, column_borrow(&s, 0));
    return statement_close(&s, status);
}

pawl_status part_load_keys(struct operation *op, struct part *part) {
    pawl_status status = PAWL_OK;
    if (part->keys_loaded || part->open == 0)
        return PAWL_OK;
    if (part->source == SOURCE_MESSAGE)
        status = load_message_keys(op, part);
    else
        for (size_t i = 0; i < part->count && status == PAWL_OK; i++)
            if (part->items[i].mark == MARK_OPEN)
                status = load_aside_key(op, part, &part->items[i]);
    for (size_t i = 0; i < part->count && status == PAWL_OK; i++)
        if (part->items[i].mark == MARK_OPEN && part->items[i].key.ptr == NULL)
            status = error_set(op->err, PAWL_INTERNAL, op->name,
                               "message %lld of a claim is not in its table: run pawl check",
                               (long long)part->items[i].seq);
    part->keys_loaded = status == PAWL_OK;
    return status;
}

struct part *part_make(struct operation *op, int64_t token, size_t count) {
    struct part *part = arena_alloc(op->scratch, sizeof(*part));
    struct part_item *items = arena_array(op->scratch, count, sizeof(*items));
    if (part == NULL || items == NULL)
        return NULL;
    part->token = token;
    part->state = CLAIM_ACTIVE;
    part->items = items;
    part->count = part->open = count;
    part->fresh = part->dirty = true;
    int number = 0;
    for (struct part *other = first_of(op, token); other != NULL; other = part_next_of(other))
        number = other->part + 1;
    part->part = number;
    link_part(op, part);
    return part;
}

void part_mark(struct part *part, struct part_item *item, enum item_mark mark) {
    item->mark = (uint8_t)mark;
    part->open--;
    part->dirty = true;
    if (part->open == 0 && part->state == CLAIM_ACTIVE)
        part->state = CLAIM_DONE;
}

static uint8_t *encode_marks(struct operation *op, const struct part *part) {
    uint8_t *marks = arena_alloc(op->scratch, part->count);
    for (size_t i = 0; marks != NULL && i < part->count; i++)
        marks[i] = part->items[i].mark;
    return marks;
}

static uint8_t *encode_items(struct operation *op, const struct part *part) {
    uint8_t *items = arena_alloc(op->scratch, part->count * ITEM_BYTES);
    for (size_t i = 0; items != NULL && i < part->count; i++) {
        uint64_t seq = htole64((uint64_t)part->items[i].seq);
        memcpy(items + i * ITEM_BYTES, &seq, sizeof(seq));
        memcpy(items + i * ITEM_BYTES + ITEM_ID_OFFSET, part->items[i].id.b, sizeof(pawl_uuid));
    }
    return items;
}

static pawl_status insert_part(struct operation *op, const struct part *part) {
    uint8_t *marks = encode_marks(op, part);
    uint8_t *items = encode_items(op, part);
    if (marks == NULL || items == NULL)
        return operation_no_memory(op);
    return statement_run(SQL(op, SQLITE_Q_CLAIM_INSERT, ROW_OF(part_grant, part), part->open,
                             id_or_null(part->request), BLOB(marks, part->count),
                             BLOB(items, part->count * ITEM_BYTES), part->lost));
}

static pawl_status update_part(struct operation *op, const struct part *part) {
    if (part->forgotten)
        return statement_run(SQL(op, SQLITE_Q_CLAIM_FORGET, part->token, part->part));
    uint8_t *marks = encode_marks(op, part);
    if (marks == NULL)
        return operation_no_memory(op);
    return statement_run(SQL(op, SQLITE_Q_CLAIM_MARK, part->token, part->part, part->state,
                             part->lease_until_ms, part->open, BLOB(marks, part->count), part->suspect));
}

pawl_status parts_flush(struct operation *op) {
    for (struct part *part = op->parts; part != NULL; part = part->next)
        if (part->dirty)
            TRY(part->fresh ? insert_part(op, part) : update_part(op, part));
    op->parts = NULL;
    return PAWL_OK;
}
