/* The state dump on SQLite (docs/state-dump.md). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/sqlite/claims/flight.h"
#include "store/sqlite/messages/view.h"

/*
 * How the columns of a dump query are written, one letter each: i number, u uuid, t text, e first line of a
 * text, k stream key (a key of a message without a stream is absent), s instance state.
 */
struct section {
    const char *name;
    enum sqlite_query query;
    const char *forms;
    const char *fields[13];
};

static const struct section sections[] = {
    {"instance",
     SQLITE_Q_DUMP_INSTANCE,
     "utisii",
     {"id", "service", "kinds", "state", "beat", "lease_until"}},
    {"tombstone", SQLITE_Q_DUMP_TOMBSTONE, "u", {"id"}},
    {"lane", SQLITE_Q_DUMP_LANE, "iiui", {"kind", "lane", "owner", "draining"}},
    {"message",
     SQLITE_Q_DUMP_MESSAGE,
     "iiutttti",
     {"kind", "lane", "id", "stream", "type", "payload", "consumer", "put_ms"}},
    {"aside",
     SQLITE_Q_DUMP_ASIDE,
     "iiutiiieiii",
     {"kind", "lane", "id", "stream", "attempts", "deaths", "reason", "error", "scheduled", "out_of_order",
      "losses"}},
    {"hold", SQLITE_Q_DUMP_HOLD, "ikiiiu", {"kind", "stream", "lane", "state", "due", "by"}},
    {"claim", SQLITE_Q_VIEW_CLAIMS, NULL, {NULL}}, /* written by dump_claims */
    {"dead",
     SQLITE_Q_DUMP_DEAD,
     "iiutiiiei",
     {"kind", "lane", "id", "stream", "attempts", "deaths", "reason", "error", "died"}},
    {"dedupe", SQLITE_Q_DUMP_DEDUPE, "tu", {"consumer", "id"}},
    {"receptor", SQLITE_Q_DUMP_RECEPTOR, "utiie", {"event", "receptor", "status", "attempts", "error"}},
    {"checkpoint",
     SQLITE_Q_DUMP_CHECKPOINT,
     "ttiiie",
     {"stream", "perspective", "version", "status", "attempts", "error"}},
    {"tally",
     SQLITE_Q_DUMP_TALLY,
     "iiiiiiiiii",
     {"kind", "put", "done", "failed", "dead", "aside", "stale", "duplicate", "redriven", "discarded"}},
    {"history", SQLITE_Q_DUMP_HISTORY, "iu", {"kind", "id"}},
    {"run",
     SQLITE_Q_DUMP_RUN,
     "ttiiiiiiiiie",
     {"key", "name", "state", "paused", "round", "partitions", "remaining", "done", "failed", "children_open",
      "children_failed", "error"}},
    {"partition",
     SQLITE_Q_DUMP_PARTITION,
     "ttiiiiiiiiite",
     {"run", "name", "state", "paused", "job", "generation", "page", "offset", "items", "repeats", "skipped",
      "cursor", "error"}},
    {"item", SQLITE_Q_DUMP_ITEM, "ttit", {"run", "key", "part", "payload"}},
};

static void put_uuid(struct buf *buf, pawl_uuid id) {
    char text[UUID_TEXT_BYTES];
    buf_append_cstr(buf, uuid_is_nil(id) ? "-" : uuid_format(id, text));
}

static void put_text(struct buf *buf, pawl_str text) {
    if (str_absent(text))
        buf_append_char(buf, '-');
    else
        json_quote(buf, text);
}

static pawl_str first_line(pawl_str text) {
    const char *end = text.len > 0 ? memchr(text.ptr, '\n', text.len) : NULL;
    return end != NULL ? (pawl_str){text.ptr, (size_t)(end - text.ptr)} : text;
}

static void put_column(struct buf *buf, const struct statement *s, int column, char form) {
    pawl_str text;
    switch (form) {
    case 'u':
        put_uuid(buf, column_uuid(s, column));
        break;
    case 't':
        put_text(buf, column_borrow(s, column));
        break;
    case 'e':
        put_text(buf, first_line(column_borrow(s, column)));
        break;
    case 'k':
        text = column_borrow(s, column);
        put_text(buf, text.len > 0 && text.ptr[0] == '\001' ? (pawl_str){NULL, 0} : text);
        break;
    case 's':
        buf_append_cstr(buf, column_int(s, column) == INSTANCE_ACTIVE ? "active" : "evicted");
        break;
    default:
        buf_printf(buf, "%" PRId64, column_int(s, column));
    }
}

static pawl_status dump_section(struct operation *op, const struct section *section, struct buf *buf) {
    struct statement s = statement_begin(op, section->query);
    while (statement_next(&s)) {
        buf_append_cstr(buf, section->name);
        for (int i = 0; section->forms[i] != '\0'; i++) {
            buf_printf(buf, " %s=", section->fields[i]);
            put_column(buf, &s, i, section->forms[i]);
        }
        buf_append_char(buf, '\n');
    }
    return statement_end(&s);
}

static int uuid_order(const void *a, const void *b) {
    return uuid_compare(*(const pawl_uuid *)a, *(const pawl_uuid *)b);
}

/* Ids with one mark, in seq order or sorted. */
static pawl_status dump_ids(struct operation *op, const struct part *part, enum item_mark mark,
                            struct buf *buf) {
    pawl_uuid *ids = arena_array(op->scratch, part->count, sizeof(*ids));
    size_t count = 0;
    if (ids == NULL)
        return operation_no_memory(op);
    for (size_t i = 0; i < part->count; i++)
        if (part->items[i].mark == mark)
            ids[count++] = part->items[i].id;
    if (mark == MARK_DONE && count > 0)
        qsort(ids, count, sizeof(*ids), uuid_order);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_append_char(buf, ',');
        put_uuid(buf, ids[i]);
    }
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

static pawl_status dump_claims(struct operation *op, struct buf *buf) {
    pawl_status status = part_load_active(op);
    size_t count = 0;
    for (struct part *part = op->parts; part != NULL; part = part->next)
        count++;
    struct part **parts = arena_array(op->scratch, count, sizeof(struct part *));
    if (status == PAWL_OK && parts == NULL)
        status = operation_no_memory(op);
    if (status != PAWL_OK)
        return status;
    count = 0;
    for (struct part *part = op->parts; part != NULL; part = part->next)
        parts[count++] = part;
    if (count > 0)
        qsort(parts, count, sizeof(struct part *), part_order);
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        const struct part *part = parts[i];
        buf_printf(buf, "claim kind=%d lane=%d instance=", (int)part->kind, part->lane);
        put_uuid(buf, part->instance);
        buf_printf(buf, " source=%s suspect=%d lease_until=%" PRId64 " ids=[",
                   part->source == SOURCE_MESSAGE ? "message" : "aside", (int)part->suspect,
                   part->lease_until_ms);
        status = dump_ids(op, part, MARK_OPEN, buf);
        buf_append_cstr(buf, "] done=[");
        if (status == PAWL_OK)
            status = dump_ids(op, part, MARK_DONE, buf);
        buf_append_cstr(buf, "]\n");
    }
    return status;
}

pawl_status sqlite_dump(struct store *store, struct buf *out, pawl_error *err) {
    struct operation op;
    pawl_status status = PAWL_OK;
    if (!operation_begin(&op, store, OPERATION_READ, "dump", &status, err))
        return status;
    buf_printf(out, "settings partitions=%d lanes=%d epoch=%" PRId64 " max_attempts=%d policy=%d\n",
               op.settings.partition_count, op.settings.lane_count, op.settings.epoch,
               op.settings.max_attempts, op.settings.dead_policy);
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]) && status == PAWL_OK; i++)
        status = sections[i].forms != NULL ? dump_section(&op, &sections[i], out) : dump_claims(&op, out);
    if (status == PAWL_OK)
        status = buf_status(out, op.name, err);
    return operation_end(&op, status);
}
