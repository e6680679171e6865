/* The functions of one store for its operations of kind LISTS (types.h): included where STORE(name) is the
 * function of an operation, QUERY(name) a statement, and LIST_ROWS(op, statement, check, shape, out, values)
 * runs it. */
#undef LISTS
#define OPERATION(...)
#define LISTS(name, params, ...)                                                                             \
    pawl_status LISTED(name)(struct store * store, LISTS_PARAMS params) { LIST_ROWS(__VA_ARGS__) }
#define LISTED(name) STORE(name)
#include "store/operations/events.h"
#include "store/operations/relay.h"
#include "store/operations/view.h"
#undef LISTED
#define LISTED(name) STORE(jobs_##name)
#include "store/operations/jobs.h"
#undef LISTED
#define LISTED(name) STORE(runs_##name)
#include "store/operations/runs.h"
#undef LISTED
#define LISTED(name) STORE(alert_##name)
#include "store/operations/alerts.h"
#undef LISTED
#undef OPERATION
