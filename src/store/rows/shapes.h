/* How the shapes of this folder are written: with ROW defined as the struct, SHAPE(name, its members). */
#ifndef STORE_ROWS_SHAPES_H
#define STORE_ROWS_SHAPES_H

#include "store/row.h"
#include "store/store.h"

#define M(name) MEMBER(ROW, name)
#define SMALL(name) MEMBER_AS_SMALL(ROW, name)
#define JSON(name) MEMBER_AS_JSON(ROW, name)

#define SHAPE(name, ...)                                                                                     \
    static const struct member name##_members[] = {__VA_ARGS__};                                             \
    const struct row_shape name##_shape = ROW_SHAPE(ROW, name##_members)

/* The first members of another shape of the same struct, or all but its last ones. */
#define SHAPE_FIRST(name, of, first)                                                                         \
    const struct row_shape name##_shape = {of##_members, (first), sizeof(ROW)}
#define SHAPE_WITHOUT(name, of, last)                                                                        \
    SHAPE_FIRST(name, of, sizeof of##_members / sizeof of##_members[0] - (last))

#endif
