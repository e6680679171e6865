/* The intake: moves rows that applications inserted with plain SQL into the outbox. */
#ifndef STORE_SQLITE_MESSAGES_INTAKE_H
#define STORE_SQLITE_MESSAGES_INTAKE_H

#include "store/sqlite/file/operation.h"

/* Inside an operation that claims: in the order of their numbers, at most a batch of them. Rows that cannot
 * be messages are kept as refused and do not hold up the rest. */
PAWL_MUSTCHECK pawl_status intake_drain(struct operation *op);

#endif
