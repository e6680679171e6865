/* How the shapes of this folder are written: SHAPE(name, the struct, its members in the order of SQL). */
#ifndef STORE_ROWS_SHAPES_H
#define STORE_ROWS_SHAPES_H

#include "store/row.h"
#include "store/store.h"

#define SHAPE(name, row, ...)                                                                                \
    static const struct member name##_members[] = {EACH(MEMBER_OF, row, __VA_ARGS__)};                       \
    const struct row_shape name##_shape = ROW_SHAPE(row, name##_members)

/* The first members of another shape of the same struct, or all but its last ones. */
#define SHAPE_FIRST(name, row, of, first)                                                                    \
    const struct row_shape name##_shape = {of##_members, (first), sizeof(row)}
#define SHAPE_WITHOUT(name, row, of, last)                                                                   \
    SHAPE_FIRST(name, row, of, sizeof of##_members / sizeof of##_members[0] - (last))

#endif
