/* Ending claims without a report: expired, evicted, released. */
#ifndef STORE_SQLITE_CLAIMS_CLAIM_END_H
#define STORE_SQLITE_CLAIMS_CLAIM_END_H

#include "store/sqlite/claims/part.h"

/* Ends the overdue parts of a kind; a lane that had one and is not the caller's loses its owner. Adds to
 * *ended. */
PAWL_MUSTCHECK pawl_status ending_overdue(struct operation *op, enum store_kind kind, pawl_uuid caller,
                                          int64_t *ended);

/* The same only for lanes of the caller. */
PAWL_MUSTCHECK pawl_status ending_overdue_own(struct operation *op, enum store_kind kind, pawl_uuid caller);

/* Ends every active part of an instance as evicted: each unfinished message gets a death. */
PAWL_MUSTCHECK pawl_status ending_evicted(struct operation *op, pawl_uuid instance);

/* Gives back everything that an instance holds, without counting an attempt or a death. */
PAWL_MUSTCHECK pawl_status ending_released(struct operation *op, pawl_uuid instance);

#endif
