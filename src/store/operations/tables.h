/* The tables of one store's operations: included where STORE(name) is the function of an operation. */
#define OPERATION(name, ...) .name = STORE(name),
static const struct store_relay_ops relay_ops = {
#include "store/operations/relay.h"
};
#undef OPERATION
#define OPERATION(name, ...) .name = STORE(jobs_##name),
static const struct store_jobs_ops jobs_ops = {
#include "store/operations/jobs.h"
};
#undef OPERATION
#define OPERATION(name, ...) .name = STORE(runs_##name),
static const struct store_runs_ops runs_ops = {
#include "store/operations/runs.h"
};
#undef OPERATION
#define OPERATION(name, ...) .name = STORE(alert_##name),
static const struct store_alerts_ops alerts_ops = {
#include "store/operations/alerts.h"
};
#undef OPERATION
#define OPERATION(name, ...) .name = STORE(name),
static const struct store_ops store_ops = {
    .core =
        {
#include "store/operations/core.h"
        },
    .view =
        {
#include "store/operations/view.h"
        },
    .events =
        {
#include "store/operations/events.h"
        },
    .relay = &relay_ops,
    .jobs = &jobs_ops,
    .runs = &runs_ops,
    .alerts = &alerts_ops,
    .close = STORE(close),
};
#undef OPERATION
