/* The intake: what applications left with plain SQL becomes messages of the outbox. */
#ifndef STORE_SQLITE_MESSAGES_INTAKE_H
#define STORE_SQLITE_MESSAGES_INTAKE_H

#include "store/sqlite/file/operation.h"

/* Inside an operation that claims: in the order of their numbers, at most a batch of them. What cannot be a
 * message is kept among the refused, and the rest goes on. */
PAWL_MUSTCHECK pawl_status intake_drain(struct operation *op);

#endif
