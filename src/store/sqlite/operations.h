/* Declarations of the SQLite store's operations: sqlite_messages_put, sqlite_jobs_claim and so on. */
#ifndef STORE_SQLITE_OPERATIONS_H
#define STORE_SQLITE_OPERATIONS_H

#include "store/store.h"

#define STORE(name) sqlite_##name
#include "store/operations/declare.h"
#undef STORE

#endif
