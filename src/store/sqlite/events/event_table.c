/* event_rows: a virtual table whose rows are the events that it is given by pointer. */
#include "store/sqlite/events/event_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "sql_embedded.h"

/* SQLite compares the address' name: no SQL can make such a pointer. */
static const char pointer_type[] = "pawl-events";

enum column {
    STREAM,
    VERSION,
    ID,
    TYPE,
    PAYLOAD,
    METADATA,
    CORRELATION,
    CAUSATION,
    TRACEPARENT,
    APPENDED,
    REPLAY,
    BATCH
};

struct table {
    sqlite3_vtab base;
};

struct cursor {
    sqlite3_vtab_cursor base;
    const struct event_batch *batch;
    size_t at;
};

static int table_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                         char **message) {
    (void)aux, (void)argc, (void)argv, (void)message;
    struct table *table = sqlite3_malloc(sizeof *table);
    if (table == NULL)
        return SQLITE_NOMEM;
    *table = (struct table){0};
    int rc = sqlite3_declare_vtab(db, sql_sqlite_queries[SQLITE_Q_EVENT_TABLE].text);
    if (rc == SQLITE_OK)
        rc = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    if (rc == SQLITE_OK)
        *out = &table->base;
    else
        sqlite3_free(table);
    return rc;
}

static int table_disconnect(sqlite3_vtab *base) {
    sqlite3_free(base);
    return SQLITE_OK;
}

/* The one plan: all rows of the batch that was given. */
static int table_plan(sqlite3_vtab *base, sqlite3_index_info *info) {
    (void)base;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn != BATCH || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!info->aConstraint[i].usable)
            return SQLITE_CONSTRAINT;
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->estimatedCost = 100;
        info->estimatedRows = 100;
        return SQLITE_OK;
    }
    return SQLITE_CONSTRAINT;
}

static int cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    (void)base;
    struct cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (cursor == NULL)
        return SQLITE_NOMEM;
    *cursor = (struct cursor){0};
    *out = &cursor->base;
    return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *base) {
    sqlite3_free(base);
    return SQLITE_OK;
}

static int cursor_filter(sqlite3_vtab_cursor *base, int plan, const char *name, int argc,
                         sqlite3_value **argv) {
    (void)plan, (void)name;
    struct cursor *cursor = (struct cursor *)base;
    cursor->batch = argc == 1 ? sqlite3_value_pointer(argv[0], pointer_type) : NULL;
    cursor->at = 0;
    if (cursor->batch != NULL)
        return SQLITE_OK;
    base->pVtab->zErrMsg =
        sqlite3_mprintf("event_rows takes the events of a perspective's batch: event_rows(?1)");
    return SQLITE_ERROR;
}

static int cursor_next(sqlite3_vtab_cursor *base) {
    ((struct cursor *)base)->at++;
    return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *base) {
    const struct cursor *cursor = (const struct cursor *)base;
    return cursor->batch == NULL || cursor->at >= cursor->batch->count;
}

static void give_text(sqlite3_context *context, pawl_str text) {
    if (!str_absent(text))
        sqlite3_result_text64(context, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

static void give_id(sqlite3_context *context, pawl_uuid id) {
    char text[UUID_TEXT_BYTES];
    if (!uuid_is_nil(id))
        sqlite3_result_text(context, uuid_format(id, text), -1, SQLITE_TRANSIENT);
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    const struct cursor *cursor = (const struct cursor *)base;
    const pawl_stored_event *event = &cursor->batch->events[cursor->at];
    switch ((enum column)column) {
    case STREAM:
        give_text(context, event->stream);
        break;
    case VERSION:
        sqlite3_result_int64(context, event->version);
        break;
    case ID:
        give_id(context, event->id);
        break;
    case TYPE:
        give_text(context, event->type);
        break;
    case PAYLOAD:
        give_text(context, event->payload);
        break;
    case METADATA:
        give_text(context, event->metadata);
        break;
    case CORRELATION:
        give_id(context, event->correlation_id);
        break;
    case CAUSATION:
        give_id(context, event->causation_id);
        break;
    case TRACEPARENT:
        give_text(context, event->traceparent);
        break;
    case APPENDED:
        sqlite3_result_int64(context, event->appended_ms);
        break;
    case REPLAY:
        sqlite3_result_int(context, event->replay ? 1 : 0);
        break;
    case BATCH:
        break;
    }
    return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = (sqlite3_int64)((const struct cursor *)base)->at;
    return SQLITE_OK;
}

int event_table_install(sqlite3 *db) {
    static const sqlite3_module module = {.xConnect = table_connect,
                                          .xBestIndex = table_plan,
                                          .xDisconnect = table_disconnect,
                                          .xOpen = cursor_open,
                                          .xClose = cursor_close,
                                          .xFilter = cursor_filter,
                                          .xNext = cursor_next,
                                          .xEof = cursor_eof,
                                          .xColumn = cursor_column,
                                          .xRowid = cursor_rowid};
    return sqlite3_create_module(db, "event_rows", &module, NULL);
}

/* The offset after event_rows(?1), with any white space, at text.ptr[at]; 0: the text is different. */
static size_t behind_call(pawl_str text, size_t at) {
    static const char *const parts[] = {"event_rows", "(", "?1", ")"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t len = strlen(parts[i]);
        while (i > 0 && at < text.len && strchr(" \t\r\n", text.ptr[at]) != NULL)
            at++;
        if (text.len - at < len || sqlite3_strnicmp(text.ptr + at, parts[i], (int)len) != 0)
            return 0;
        at += len;
    }
    return at;
}

bool event_table_named(pawl_str sql) {
    for (size_t at = 0; at < sql.len; at++) {
        if (behind_call(sql, at) > 0)
            return true;
    }
    return false;
}

pawl_status event_table_check(pawl_str sql, const char *op, pawl_error *err) {
    for (size_t at = 0; at < sql.len; at++) {
        size_t behind = behind_call(sql, at);
        if (behind > 0)
            at = behind - 1;
        else if (sql.ptr[at] == '?')
            return error_set(err, PAWL_INVALID, op,
                             "the perspective takes its events by event_rows(?1) and by ?1 alone; use one of "
                             "them throughout");
    }
    return PAWL_OK;
}

int event_table_bind(sqlite3_stmt *stmt, const struct event_batch *batch) {
    return sqlite3_bind_pointer(stmt, 1, (void *)(uintptr_t)batch, pointer_type, NULL);
}
