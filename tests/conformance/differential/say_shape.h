/* Writing a row by its description. */
#ifndef CONFORMANCE_SAY_SHAPE_H
#define CONFORMANCE_SAY_SHAPE_H

#include "base/buf.h"
#include "store/row.h"

/* Every member of a row; an absent text is not an empty one. */
void say_shape(struct buf *said, const struct row_shape *shape, const void *row);

#endif
