/* Declarations of the SQLite store's operations: sqlite_messages_put, sqlite_jobs_claim and so on. */
#ifndef STORE_SQLITE_OPERATIONS_H
#define STORE_SQLITE_OPERATIONS_H

#include "store/store.h"

#define OPERATION(name, ...) pawl_status sqlite_##name(struct store *store, __VA_ARGS__);
#include "store/operations/core.h"
#include "store/operations/events.h"
#include "store/operations/relay.h"
#include "store/operations/view.h"
#undef OPERATION
#define OPERATION(name, ...) pawl_status sqlite_jobs_##name(struct store *store, __VA_ARGS__);
#include "store/operations/jobs.h"
#undef OPERATION
#define OPERATION(name, ...) pawl_status sqlite_runs_##name(struct store *store, __VA_ARGS__);
#include "store/operations/runs.h"
#undef OPERATION
#define OPERATION(name, ...) pawl_status sqlite_alert_##name(struct store *store, __VA_ARGS__);
#include "store/operations/alerts.h"
#undef OPERATION

#endif
