/* Grants that their holder does not know of. */
#ifndef STORE_SQLITE_CLAIMS_GRANTS_H
#define STORE_SQLITE_CLAIMS_GRANTS_H

#include "store/store.h"

pawl_status sqlite_grants_settle(struct store *store, const struct grants_settle *in,
                                 struct grants_settled *out, pawl_error *err);

#endif
