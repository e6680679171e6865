/* Keeping what cannot be a message. */
#ifndef STORE_SQLITE_REFUSE_H
#define STORE_SQLITE_REFUSE_H

#include "store/relay.h"
#include "store/sqlite/operation.h"

/* Once per content, inside an operation (relay.c). */
PAWL_MUSTCHECK pawl_status refuse(struct operation *op, const struct refused_row *row);

#endif
