/* The whole logical state as text lines. */
#include "store/rows/dump.h"

#include "store/postgres/query.h"

static const enum postgres_query queries[DUMP_SECTIONS] = {
    [DUMP_SETTINGS] = POSTGRES_Q_DUMP_SETTINGS,
    [DUMP_INSTANCE] = POSTGRES_Q_DUMP_INSTANCES,
    [DUMP_TOMBSTONE] = POSTGRES_Q_DUMP_TOMBSTONES,
    [DUMP_LANE] = POSTGRES_Q_DUMP_LANES,
    [DUMP_MESSAGE] = POSTGRES_Q_DUMP_MESSAGES,
    [DUMP_ASIDE] = POSTGRES_Q_DUMP_ASIDE,
    [DUMP_HOLD] = POSTGRES_Q_DUMP_HOLDS,
    [DUMP_CLAIM] = POSTGRES_Q_DUMP_CLAIMS,
    [DUMP_DEAD] = POSTGRES_Q_DUMP_DEAD,
    [DUMP_DEDUPE] = POSTGRES_Q_DUMP_DEDUPE,
    [DUMP_RECEPTOR] = POSTGRES_Q_DUMP_RECEPTORS,
    [DUMP_CHECKPOINT] = POSTGRES_Q_DUMP_CHECKPOINTS,
    [DUMP_TALLY] = POSTGRES_Q_DUMP_TALLY,
    [DUMP_HISTORY] = POSTGRES_Q_DUMP_HISTORY,
    [DUMP_RUN] = POSTGRES_Q_DUMP_RUNS,
    [DUMP_PARTITION] = POSTGRES_Q_DUMP_PARTITIONS,
    [DUMP_ITEM] = POSTGRES_Q_DUMP_ITEMS,
};

struct dumped_row {
    struct cell first;
    struct arena *arena;
    bool failed;
};

static struct dump_value read_cell(void *row, int column, enum dump_form form) {
    struct dumped_row *from = row;
    const struct cell cell = {from->first.result, from->first.row, column};
    struct dump_value value = {0};
    if (form == DUMP_IDS) {
        value.id_count = pg_cell_array_count(cell);
        pawl_uuid *ids = arena_array(from->arena, value.id_count, sizeof *ids);
        from->failed = from->failed || ids == NULL || !pg_cell_array_uuids(cell, ids, value.id_count);
        value.ids = ids;
        value.id_count = from->failed ? 0 : value.id_count;
    } else if (form == DUMP_TEXT || form == DUMP_LINE) {
        value.text = pg_cell_text(cell, from->arena, &from->failed);
    } else if (form == DUMP_ID) {
        value.id = pg_cell_uuid(cell);
    } else {
        value.number = form == DUMP_FLAG ? pg_cell_bool(cell) : pg_cell_int(cell);
    }
    return value;
}

pawl_status postgres_dump(struct store *store, struct buf *out, pawl_error *err) {
    struct statement steps[DUMP_SECTIONS];
    struct dumped_row row = {.arena = arena_create(0)};
    if (row.arena == NULL)
        return pg_answer_no_memory("dump", err);
    for (size_t i = 0; i < DUMP_SECTIONS; i++)
        steps[i] = pg_statement_new(queries[i], row.arena);
    pawl_status status =
        pg_statements_run(postgres_of(store), "dump", steps, DUMP_SECTIONS, EFFECT_READ, err);
    for (int i = 0; i < DUMP_SECTIONS; i++) {
        for (int n = 0; status == PAWL_OK && n < PQntuples(steps[i].result); n++) {
            row.first = (struct cell){steps[i].result, n, 0};
            dump_row(out, (enum dump_section)i, read_cell, &row);
        }
        pg_statement_clear(&steps[i]);
    }
    if (status == PAWL_OK && row.failed)
        status = pg_answer_no_memory("dump", err);
    arena_free(row.arena);
    return status == PAWL_OK ? buf_status(out, "dump", err) : status;
}
