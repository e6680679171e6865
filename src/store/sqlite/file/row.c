/* Reading rows from statements and binding them, by their descriptions (store/row.h). */
#include "store/sqlite/file/row.h"

#include <string.h>

void row_read(struct statement *s, int first, const struct row_shape *shape, struct arena *arena, void *row) {
    for (size_t i = 0; i < shape->count; i++) {
        void *at = (char *)row + shape->members[i].offset;
        int column = first + (int)i;
        switch ((enum member_type)shape->members[i].type) {
        case MEMBER_INT:
        case MEMBER_SMALL:
            *(int *)at = (int)column_int(s, column);
            break;
        case MEMBER_BIG:
            *(int64_t *)at = column_int(s, column);
            break;
        case MEMBER_BOOL:
            *(bool *)at = column_int(s, column) != 0;
            break;
        case MEMBER_TEXT:
        case MEMBER_JSON:
            *(pawl_str *)at = column_copy(s, column, arena);
            break;
        case MEMBER_UUID:
            *(pawl_uuid *)at = column_uuid(s, column);
            break;
        case MEMBER_NONE:
            break;
        }
    }
}

pawl_status row_find(struct statement s, const struct row_shape *shape, struct arena *arena, void *row,
                     bool *found) {
    bool any = statement_next(&s);
    if (any)
        row_read(&s, 0, shape, arena, row);
    TRY(statement_end(&s));
    *found = any;
    return PAWL_OK;
}

pawl_status rows_read(struct statement s, const struct row_shape *shape, struct arena *arena,
                      struct row_list *out) {
    size_t cap = 0;
    pawl_status grown = PAWL_OK;
    *out = (struct row_list){NULL, 0};
    while (grown == PAWL_OK && statement_next(&s)) {
        grown = list_grow(s.op, arena, &out->rows, &cap, out->count, shape->size);
        if (grown == PAWL_OK)
            row_read(&s, 0, shape, arena, (char *)out->rows + out->count++ * shape->size);
    }
    TRY(statement_end(&s));
    return grown;
}

pawl_status operation_give_rows(struct statement s, const struct row_shape *shape, struct arena *arena,
                                struct rows_out out) {
    struct row_list list;
    pawl_status status = operation_end(s.op, rows_read(s, shape, arena, &list));
    if (status == PAWL_OK)
        rows_give(list, s.op->now_ms, out);
    return status;
}

pawl_status list_grow(struct operation *op, struct arena *arena, void **items, size_t *cap, size_t count,
                      size_t size) {
    if (count < *cap)
        return PAWL_OK;
    size_t grown = *cap == 0 ? 16 : *cap * 2;
    void *fresh = arena_array(arena, grown, size);
    if (fresh == NULL)
        return operation_no_memory(op);
    if (count > 0)
        memcpy(fresh, *items, count * size);
    *items = fresh;
    *cap = grown;
    return PAWL_OK;
}
