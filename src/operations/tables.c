/* All tables of operations, for fronts that offer every one. */
#include "operations/tables.h"

#define OPERATION_TABLE_AT(noun) &noun##_operations,
const struct operation_table *const operation_tables[] = {OPERATION_TABLES(OPERATION_TABLE_AT)};
const size_t operation_tables_count = sizeof operation_tables / sizeof *operation_tables;

const struct operation *operation_in(const struct operation_table *const *tables, size_t count,
                                     size_t *index) {
    for (size_t i = 0; i < count; i++) {
        if (*index < tables[i]->count)
            return &tables[i]->rows[*index];
        *index -= tables[i]->count;
    }
    return NULL;
}

const struct operation *operation_at(size_t index) {
    return operation_in(operation_tables, operation_tables_count, &index);
}
