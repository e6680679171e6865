/* Keeping what cannot be a message. */
#ifndef STORE_SQLITE_MESSAGES_REFUSED_H
#define STORE_SQLITE_MESSAGES_REFUSED_H

#include "store/relay.h"
#include "store/sqlite/file/operation.h"

/* Once per content, inside an operation (relay.c). */
PAWL_MUSTCHECK pawl_status refused_keep(struct operation *op, const struct refused_row *row);

#endif
