/* The whole logical state as text lines. */
#include "store/rows/dump.h"

#include <stdlib.h>

#include "base/uuid.h"
#include "store/sqlite/claims/part.h"

/* Claims are written by dump_claims. */
static const enum sqlite_query queries[DUMP_SECTIONS] = {
    [DUMP_SETTINGS] = SQLITE_Q_DUMP_SETTINGS,
    [DUMP_INSTANCE] = SQLITE_Q_DUMP_INSTANCE,
    [DUMP_TOMBSTONE] = SQLITE_Q_DUMP_TOMBSTONE,
    [DUMP_LANE] = SQLITE_Q_DUMP_LANE,
    [DUMP_MESSAGE] = SQLITE_Q_DUMP_MESSAGE,
    [DUMP_ASIDE] = SQLITE_Q_DUMP_ASIDE,
    [DUMP_HOLD] = SQLITE_Q_DUMP_HOLD,
    [DUMP_DEAD] = SQLITE_Q_DUMP_DEAD,
    [DUMP_DEDUPE] = SQLITE_Q_DUMP_DEDUPE,
    [DUMP_RECEPTOR] = SQLITE_Q_DUMP_RECEPTOR,
    [DUMP_CHECKPOINT] = SQLITE_Q_DUMP_CHECKPOINT,
    [DUMP_TALLY] = SQLITE_Q_DUMP_TALLY,
    [DUMP_HISTORY] = SQLITE_Q_DUMP_HISTORY,
    [DUMP_RUN] = SQLITE_Q_DUMP_RUN,
    [DUMP_PARTITION] = SQLITE_Q_DUMP_PARTITION,
    [DUMP_ITEM] = SQLITE_Q_DUMP_ITEM,
};

static struct dump_value read_column(void *row, int column, enum dump_form form) {
    const struct statement *s = row;
    if (form == DUMP_ID)
        return (struct dump_value){.id = column_uuid(s, column)};
    if (form == DUMP_TEXT || form == DUMP_LINE)
        return (struct dump_value){.text = column_borrow(s, column)};
    return (struct dump_value){.number = column_int(s, column)};
}

/* A claim and the ids of its items that are open and done. */
struct dumped_claim {
    const struct part *part;
    pawl_uuid *open, *done;
    size_t open_count, done_count;
};

static struct dump_value read_claim(void *row, int column, enum dump_form form) {
    const struct dumped_claim *claim = row;
    const struct part *part = claim->part;
    const int64_t numbers[] = {(int64_t)part->kind, part->lane,    0,
                               part->source,        part->suspect, part->lease_until_ms};
    if (form == DUMP_ID)
        return (struct dump_value){.id = part->instance};
    if (form == DUMP_IDS) {
        const bool open = column == (int)(sizeof numbers / sizeof *numbers);
        return open ? (struct dump_value){.ids = claim->open, .id_count = claim->open_count}
                    : (struct dump_value){.ids = claim->done, .id_count = claim->done_count};
    }
    return (struct dump_value){.number = numbers[column]};
}

static int uuid_order(const void *a, const void *b) {
    return uuid_compare(*(const pawl_uuid *)a, *(const pawl_uuid *)b);
}

/* Open ids in seq order, those that are done sorted. */
static pawl_status dump_claim(struct operation *op, const struct part *part, struct buf *out) {
    struct dumped_claim claim = {.part = part,
                                 .open = arena_array(op->scratch, part->count, sizeof(pawl_uuid)),
                                 .done = arena_array(op->scratch, part->count, sizeof(pawl_uuid))};
    if (claim.open == NULL || claim.done == NULL)
        return operation_no_memory(op);
    for (size_t i = 0; i < part->count; i++) {
        if (part->items[i].mark == MARK_OPEN)
            claim.open[claim.open_count++] = part->items[i].id;
        else if (part->items[i].mark == MARK_DONE)
            claim.done[claim.done_count++] = part->items[i].id;
    }
    if (claim.done_count > 0)
        qsort(claim.done, claim.done_count, sizeof(pawl_uuid), uuid_order);
    dump_row(out, DUMP_CLAIM, read_claim, &claim);
    return PAWL_OK;
}

static int64_t first_open_seq(const struct part *part) {
    for (size_t i = 0; i < part->count; i++)
        if (part->items[i].mark == MARK_OPEN)
            return part->items[i].seq;
    return 0;
}

static int part_order(const void *a, const void *b) {
    const struct part *x = *(struct part *const *)a, *y = *(struct part *const *)b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    int64_t p = first_open_seq(x), q = first_open_seq(y);
    return (p > q) - (p < q);
}

static pawl_status dump_claims(struct operation *op, struct buf *out) {
    TRY(part_load_active(op));
    size_t count = 0;
    for (struct part *part = op->parts; part != NULL; part = part->next)
        count++;
    struct part **parts = arena_array(op->scratch, count, sizeof(struct part *));
    if (parts == NULL)
        return operation_no_memory(op);
    count = 0;
    for (struct part *part = op->parts; part != NULL; part = part->next)
        parts[count++] = part;
    if (count > 0)
        qsort(parts, count, sizeof(struct part *), part_order);
    for (size_t i = 0; i < count; i++)
        TRY(dump_claim(op, parts[i], out));
    return PAWL_OK;
}

pawl_status sqlite_dump(struct store *store, struct buf *out, pawl_error *err) {
    struct operation op = operation_read(store, "dump", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = PAWL_OK;
    for (int section = 0; section < DUMP_SECTIONS && status == PAWL_OK; section++) {
        if (section == DUMP_CLAIM) {
            status = dump_claims(&op, out);
            continue;
        }
        struct statement s = statement_begin(&op, queries[section]);
        while (statement_next(&s))
            dump_row(out, (enum dump_section)section, read_column, &s);
        status = statement_end(&s);
    }
    if (status == PAWL_OK)
        status = buf_status(out, op.name, err);
    return operation_end(&op, status);
}
