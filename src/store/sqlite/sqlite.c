/* The SQLite store: opening it, and its table of operations. */
#include "store/sqlite/file/clock.h"
#include "store/sqlite/file/memory.h"
#include "store/sqlite/file/migrate.h"
#include "store/sqlite/operations.h"

static void sqlite_close(struct store *store) { connection_close(sqlite_store_of(store)); }

#define OPERATION(name, ...) .name = sqlite_##name,
static const struct store_relay_ops sqlite_relay_ops = {
#include "store/operations/relay.h"
};
#undef OPERATION
#define OPERATION(name, ...) .name = sqlite_jobs_##name,
static const struct store_jobs_ops sqlite_jobs_ops = {
#include "store/operations/jobs.h"
};
#undef OPERATION
#define OPERATION(name, ...) .name = sqlite_runs_##name,
static const struct store_runs_ops sqlite_runs_ops = {
#include "store/operations/runs.h"
};
#undef OPERATION
#define OPERATION(name, ...) .name = sqlite_alert_##name,
static const struct store_alerts_ops sqlite_alerts_ops = {
#include "store/operations/alerts.h"
};
#undef OPERATION
#define OPERATION(name, ...) .name = sqlite_##name,
static const struct store_ops sqlite_ops = {
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
    .relay = &sqlite_relay_ops,
    .jobs = &sqlite_jobs_ops,
    .runs = &sqlite_runs_ops,
    .alerts = &sqlite_alerts_ops,
    .close = sqlite_close,
};
#undef OPERATION

static struct store sqlite_base(bool sessions) {
    return (struct store){
        .ops = &sqlite_ops,
        .caps = {.notify = false, .many_writers = false, .sessions = sessions},
        .dialect = "sqlite",
    };
}

pawl_status sqlite_memory_open(const struct migrate_config *migrate, const int64_t *clock_ms,
                               struct store **store, pawl_error *err) {
    const struct store_config config = {.url = ":memory:", .durability = DURABILITY_NORMAL};
    struct sqlite_store *self = NULL;
    struct migrate_result migrated;
    pawl_status status = connection_open(&config, CONNECTION_MEMORY, &self, err);
    if (status != PAWL_OK)
        return status;
    self->base = sqlite_base(false);
    self->clock_ms = clock_ms;
    status = migrate_run(self, migrate, &migrated, err);
    if (status == PAWL_OK)
        *store = &self->base;
    else
        connection_close(self);
    return status;
}

pawl_status sqlite_open(const struct store_config *config, struct store **store, pawl_error *err) {
    struct sqlite_store *self = NULL;
    pawl_status status = connection_open(config, CONNECTION_USE, &self, err);
    if (status != PAWL_OK)
        return status;
    self->base = sqlite_base(true);
    if (!config->allow_version_mismatch)
        status = migrate_check(self, err);
    if (status == PAWL_OK && !config->allow_version_mismatch)
        status = clock_settle(self, err);
    if (status == PAWL_OK)
        *store = &self->base;
    else
        connection_close(self);
    return status;
}
