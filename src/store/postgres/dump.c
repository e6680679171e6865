/* The state dump on PostgreSQL (docs/state-dump.md). */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/postgres/query.h"
#include "store/postgres/wire/schema.h"

/* How one column is printed. */
enum form { FORM_NUMBER, FORM_TEXT, FORM_LINE, FORM_UUID, FORM_UUIDS, FORM_FLAG, FORM_STATE, FORM_SOURCE };

struct column {
    const char *name;
    enum form form;
};

enum { COLUMNS_MAX = 13 };

/* The sections in their order; each is one statement. */
static const struct section {
    const char *name;
    enum postgres_query query;
    struct column columns[COLUMNS_MAX + 1];
} sections[] = {
    {"settings",
     POSTGRES_Q_DUMP_SETTINGS,
     {{"partitions", FORM_NUMBER},
      {"lanes", FORM_NUMBER},
      {"epoch", FORM_NUMBER},
      {"max_attempts", FORM_NUMBER},
      {"policy", FORM_NUMBER}}},
    {"instance",
     POSTGRES_Q_DUMP_INSTANCES,
     {{"id", FORM_UUID},
      {"service", FORM_TEXT},
      {"kinds", FORM_NUMBER},
      {"state", FORM_STATE},
      {"beat", FORM_NUMBER},
      {"lease_until", FORM_NUMBER}}},
    {"tombstone", POSTGRES_Q_DUMP_TOMBSTONES, {{"id", FORM_UUID}}},
    {"lane",
     POSTGRES_Q_DUMP_LANES,
     {{"kind", FORM_NUMBER}, {"lane", FORM_NUMBER}, {"owner", FORM_UUID}, {"draining", FORM_FLAG}}},
    {"message",
     POSTGRES_Q_DUMP_MESSAGES,
     {{"kind", FORM_NUMBER},
      {"lane", FORM_NUMBER},
      {"id", FORM_UUID},
      {"stream", FORM_TEXT},
      {"type", FORM_TEXT},
      {"payload", FORM_TEXT},
      {"consumer", FORM_TEXT},
      {"put_ms", FORM_NUMBER}}},
    {"aside",
     POSTGRES_Q_DUMP_ASIDE,
     {{"kind", FORM_NUMBER},
      {"lane", FORM_NUMBER},
      {"id", FORM_UUID},
      {"stream", FORM_TEXT},
      {"attempts", FORM_NUMBER},
      {"deaths", FORM_NUMBER},
      {"reason", FORM_NUMBER},
      {"error", FORM_LINE},
      {"scheduled", FORM_NUMBER},
      {"out_of_order", FORM_FLAG},
      {"losses", FORM_NUMBER}}},
    {"hold",
     POSTGRES_Q_DUMP_HOLDS,
     {{"kind", FORM_NUMBER},
      {"stream", FORM_TEXT},
      {"lane", FORM_NUMBER},
      {"state", FORM_NUMBER},
      {"due", FORM_NUMBER},
      {"by", FORM_UUID}}},
    {"claim",
     POSTGRES_Q_DUMP_CLAIMS,
     {{"kind", FORM_NUMBER},
      {"lane", FORM_NUMBER},
      {"instance", FORM_UUID},
      {"source", FORM_SOURCE},
      {"suspect", FORM_NUMBER},
      {"lease_until", FORM_NUMBER},
      {"ids", FORM_UUIDS},
      {"done", FORM_UUIDS}}},
    {"dead",
     POSTGRES_Q_DUMP_DEAD,
     {{"kind", FORM_NUMBER},
      {"lane", FORM_NUMBER},
      {"id", FORM_UUID},
      {"stream", FORM_TEXT},
      {"attempts", FORM_NUMBER},
      {"deaths", FORM_NUMBER},
      {"reason", FORM_NUMBER},
      {"error", FORM_LINE},
      {"died", FORM_NUMBER}}},
    {"dedupe", POSTGRES_Q_DUMP_DEDUPE, {{"consumer", FORM_TEXT}, {"id", FORM_UUID}}},
    {"receptor",
     POSTGRES_Q_DUMP_RECEPTORS,
     {{"event", FORM_UUID},
      {"receptor", FORM_TEXT},
      {"status", FORM_NUMBER},
      {"attempts", FORM_NUMBER},
      {"error", FORM_LINE}}},
    {"checkpoint",
     POSTGRES_Q_DUMP_CHECKPOINTS,
     {{"stream", FORM_TEXT},
      {"perspective", FORM_TEXT},
      {"version", FORM_NUMBER},
      {"status", FORM_NUMBER},
      {"attempts", FORM_NUMBER},
      {"error", FORM_LINE}}},
    {"tally",
     POSTGRES_Q_DUMP_TALLY,
     {{"kind", FORM_NUMBER},
      {"put", FORM_NUMBER},
      {"done", FORM_NUMBER},
      {"failed", FORM_NUMBER},
      {"dead", FORM_NUMBER},
      {"aside", FORM_NUMBER},
      {"stale", FORM_NUMBER},
      {"duplicate", FORM_NUMBER},
      {"redriven", FORM_NUMBER},
      {"discarded", FORM_NUMBER}}},
    {"history", POSTGRES_Q_DUMP_HISTORY, {{"kind", FORM_NUMBER}, {"id", FORM_UUID}}},
    {"run",
     POSTGRES_Q_DUMP_RUNS,
     {{"key", FORM_TEXT},
      {"name", FORM_TEXT},
      {"state", FORM_NUMBER},
      {"paused", FORM_FLAG},
      {"round", FORM_NUMBER},
      {"partitions", FORM_NUMBER},
      {"remaining", FORM_NUMBER},
      {"done", FORM_NUMBER},
      {"failed", FORM_NUMBER},
      {"children_open", FORM_NUMBER},
      {"children_failed", FORM_NUMBER},
      {"error", FORM_LINE}}},
    {"partition",
     POSTGRES_Q_DUMP_PARTITIONS,
     {{"run", FORM_TEXT},
      {"name", FORM_TEXT},
      {"state", FORM_NUMBER},
      {"paused", FORM_FLAG},
      {"job", FORM_FLAG},
      {"generation", FORM_NUMBER},
      {"page", FORM_NUMBER},
      {"offset", FORM_NUMBER},
      {"items", FORM_NUMBER},
      {"repeats", FORM_NUMBER},
      {"skipped", FORM_NUMBER},
      {"cursor", FORM_TEXT},
      {"error", FORM_LINE}}},
    {"item",
     POSTGRES_Q_DUMP_ITEMS,
     {{"run", FORM_TEXT}, {"key", FORM_TEXT}, {"part", FORM_NUMBER}, {"payload", FORM_TEXT}}},
};

enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };

static void put_text(struct buf *out, struct cell cell, bool first_line) {
    if (PQgetisnull(cell.result, cell.row, cell.column)) {
        buf_append_char(out, '-');
        return;
    }
    pawl_str text = {PQgetvalue(cell.result, cell.row, cell.column),
                     (size_t)PQgetlength(cell.result, cell.row, cell.column)};
    const char *end = first_line && text.len > 0 ? memchr(text.ptr, '\n', text.len) : NULL;
    if (end != NULL)
        text.len = (size_t)(end - text.ptr);
    json_quote(out, text);
}

static void put_uuids(struct buf *out, struct cell cell, struct arena *arena) {
    char text[UUID_TEXT_BYTES];
    size_t count = pg_cell_array_count(cell);
    pawl_uuid *ids = arena_array(arena, count, sizeof *ids);
    buf_append_char(out, '[');
    if (ids != NULL && pg_cell_array_uuids(cell, ids, count)) {
        for (size_t i = 0; i < count; i++)
            buf_printf(out, "%s%s", i > 0 ? "," : "", uuid_format(ids[i], text));
    }
    buf_append_char(out, ']');
}

static void put_cell(struct buf *out, struct cell cell, enum form form, struct arena *arena) {
    char text[UUID_TEXT_BYTES];
    pawl_uuid id;
    switch (form) {
    case FORM_NUMBER:
        buf_printf(out, "%" PRId64, pg_cell_int(cell));
        break;
    case FORM_TEXT:
        put_text(out, cell, false);
        break;
    case FORM_LINE:
        put_text(out, cell, true);
        break;
    case FORM_UUID:
        id = pg_cell_uuid(cell);
        buf_append_cstr(out, uuid_is_nil(id) ? "-" : uuid_format(id, text));
        break;
    case FORM_UUIDS:
        put_uuids(out, cell, arena);
        break;
    case FORM_FLAG:
        buf_append_char(out, pg_cell_bool(cell) ? '1' : '0');
        break;
    case FORM_STATE:
        buf_append_cstr(out, pg_cell_int(cell) == INSTANCE_ACTIVE ? "active" : "evicted");
        break;
    case FORM_SOURCE:
        buf_append_cstr(out, pg_cell_int(cell) == 1 ? "message" : "aside");
        break;
    }
}

static void put_section(struct buf *out, const struct section *section, const PGresult *result,
                        struct arena *arena) {
    for (int row = 0; row < PQntuples(result); row++) {
        buf_append_cstr(out, section->name);
        for (int i = 0; i < COLUMNS_MAX && section->columns[i].name != NULL; i++) {
            buf_printf(out, " %s=", section->columns[i].name);
            put_cell(out, (struct cell){result, row, i}, section->columns[i].form, arena);
        }
        buf_append_char(out, '\n');
    }
}

pawl_status postgres_dump(struct store *store, struct buf *out, pawl_error *err) {
    struct statement steps[SECTION_COUNT];
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("dump", err);
    for (size_t i = 0; i < SECTION_COUNT; i++)
        steps[i] = pg_statement_new(sections[i].query, arena);
    pawl_status status = pg_statements_run(postgres_of(store), "dump", steps, SECTION_COUNT, err);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        if (status == PAWL_OK)
            put_section(out, &sections[i], steps[i].result, arena);
        pg_statement_clear(&steps[i]);
    }
    arena_free(arena);
    return status == PAWL_OK ? buf_status(out, "dump", err) : status;
}
