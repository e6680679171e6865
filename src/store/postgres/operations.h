/* Declarations of the PostgreSQL store's operations: postgres_messages_put, postgres_jobs_claim and so on. */
#ifndef STORE_POSTGRES_OPERATIONS_H
#define STORE_POSTGRES_OPERATIONS_H

#include "store/store.h"

#define OPERATION(name, ...) pawl_status postgres_##name(struct store *store, __VA_ARGS__);
#include "store/operations/core.h"
#include "store/operations/events.h"
#include "store/operations/relay.h"
#include "store/operations/view.h"
#undef OPERATION
#define OPERATION(name, ...) pawl_status postgres_jobs_##name(struct store *store, __VA_ARGS__);
#include "store/operations/jobs.h"
#undef OPERATION
#define OPERATION(name, ...) pawl_status postgres_runs_##name(struct store *store, __VA_ARGS__);
#include "store/operations/runs.h"
#undef OPERATION
#define OPERATION(name, ...) pawl_status postgres_alert_##name(struct store *store, __VA_ARGS__);
#include "store/operations/alerts.h"
#undef OPERATION

#endif
