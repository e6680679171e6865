/* Declarations of the PostgreSQL store's operations: postgres_messages_put, postgres_jobs_claim and so on. */
#ifndef STORE_POSTGRES_OPERATIONS_H
#define STORE_POSTGRES_OPERATIONS_H

#include "store/store.h"

#define STORE(name) postgres_##name
#include "store/operations/declare.h"
#undef STORE

#endif
