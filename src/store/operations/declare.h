/* Declarations of one store's operations: included where STORE(name) is the function of an operation. */
#define OPERATION(name, ...) pawl_status STORE(name)(struct store * store, __VA_ARGS__);
#include "store/operations/core.h"
#include "store/operations/events.h"
#include "store/operations/relay.h"
#include "store/operations/view.h"
#undef OPERATION
#define OPERATION(name, ...) pawl_status STORE(jobs_##name)(struct store * store, __VA_ARGS__);
#include "store/operations/jobs.h"
#undef OPERATION
#define OPERATION(name, ...) pawl_status STORE(runs_##name)(struct store * store, __VA_ARGS__);
#include "store/operations/runs.h"
#undef OPERATION
#define OPERATION(name, ...) pawl_status STORE(alert_##name)(struct store * store, __VA_ARGS__);
#include "store/operations/alerts.h"
#undef OPERATION
