/* Rows taken from results by their shapes. */
#include "store/postgres/row.h"

void pg_row_take(struct cell first, const struct row_shape *shape, struct arena *arena, void *row,
                 bool *failed) {
    for (size_t i = 0; i < shape->count; i++) {
        void *at = (char *)row + shape->members[i].offset;
        struct cell cell = {first.result, first.row, first.column + (int)i};
        switch ((enum member_type)shape->members[i].type) {
        case MEMBER_INT:
        case MEMBER_ENUM:
            *(int *)at = (int)pg_cell_int(cell);
            break;
        case MEMBER_BIG:
            *(int64_t *)at = pg_cell_int(cell);
            break;
        case MEMBER_BOOL:
            *(bool *)at = pg_cell_bool(cell);
            break;
        case MEMBER_TEXT:
            *(pawl_str *)at = pg_cell_text(cell, arena, failed);
            break;
        case MEMBER_UUID:
            *(pawl_uuid *)at = pg_cell_uuid(cell);
            break;
        case MEMBER_NONE:
            break;
        }
    }
}

pawl_status pg_rows_take(const struct statement *statement, int first, const char *op,
                         const struct row_shape *shape, struct row_list *out, pawl_error *err) {
    struct arena *arena = statement->params.arena;
    struct row_list list = {.count = (size_t)PQntuples(statement->result)};
    list.rows = arena_array(arena, list.count, shape->size);
    bool failed = list.rows == NULL;
    for (size_t i = 0; !failed && i < list.count; i++)
        pg_row_take((struct cell){statement->result, (int)i, first}, shape, arena,
                    (char *)list.rows + i * shape->size, &failed);
    if (failed)
        return pg_answer_no_memory(op, err);
    *out = list;
    return PAWL_OK;
}

pawl_status pg_rows_run(struct store *store, struct statement *statement, const char *op,
                        const struct row_shape *shape, struct row_list *out, pawl_error *err) {
    pawl_status status = pg_statement_run(postgres_of(store), op, statement, EFFECT_READ, err);
    return status == PAWL_OK ? pg_rows_take(statement, 0, op, shape, out, err) : status;
}

int64_t pg_rows_now(const struct statement *statement, const struct row_shape *shape) {
    bool any = PQntuples(statement->result) > 0;
    return any ? pg_cell_int((struct cell){statement->result, 0, (int)shape->count}) : 0;
}
