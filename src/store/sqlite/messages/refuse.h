/* Recording deliveries that cannot be messages. */
#ifndef STORE_SQLITE_MESSAGES_REFUSE_H
#define STORE_SQLITE_MESSAGES_REFUSE_H

#include "store/relay.h"
#include "store/sqlite/file/operation.h"

/* Once per content, inside an operation (relay.c). */
PAWL_MUSTCHECK pawl_status refuse(struct operation *op, const struct refused_row *row);

#endif
