/* The tables of operations, one per noun. */
#ifndef OPERATIONS_TABLES_H
#define OPERATIONS_TABLES_H

#include <string.h>

#include "operations/front/operation.h"

/* In the order of the help and of the API; a row here is all that a new table needs. */
#define OPERATION_TABLES(X)                                                                                  \
    X(send)                                                                                                  \
    X(status)                                                                                                \
    X(series)                                                                                                \
    X(why)                                                                                                   \
    X(find)                                                                                                  \
    X(message)                                                                                               \
    X(message_end)                                                                                           \
    X(receptor_note)                                                                                         \
    X(refused)                                                                                               \
    X(event)                                                                                                 \
    X(snapshot)                                                                                              \
    X(receptor)                                                                                              \
    X(perspective_set)                                                                                       \
    X(perspective)                                                                                           \
    X(stream)                                                                                                \
    X(run_start)                                                                                             \
    X(run)                                                                                                   \
    X(statement)                                                                                             \
    X(task)                                                                                                  \
    X(pipeline)                                                                                              \
    X(schedule)                                                                                              \
    X(job)                                                                                                   \
    X(limit)                                                                                                 \
    X(wait)                                                                                                  \
    X(agent)                                                                                                 \
    X(audit) X(tool) X(alert) X(pause) X(instance) X(worker) X(setting) X(upkeep) X(doctor) X(transport)
#define OPERATION_TABLE_DECLARED(noun) extern const struct operation_table noun##_operations;
OPERATION_TABLES(OPERATION_TABLE_DECLARED)

/* The row with that index of several tables, which it counts down by the rows of those before; NULL: none. */
const struct operation *operation_in(const struct operation_table *const *tables, size_t count,
                                     size_t *index);

/* All of them, whichever front they have: NULL after the last. The fronts have tables of their own besides.
 */
extern const struct operation_table *const operation_tables[];
extern const size_t operation_tables_count;
const struct operation *operation_at(size_t index);

/* The operation with that name, or NULL. */
static inline const struct operation *operation_find(const char *name) {
    const struct operation *operation;
    size_t i = 0;
    while ((operation = operation_at(i++)) != NULL && strcmp(operation->name, name) != 0)
        ;
    return operation;
}

#endif
