/* The SQLite store: opening it, and its table of operations. */
#include "store/check/jobs.h"
#include "store/sqlite/file/clock.h"
#include "store/sqlite/file/memory.h"
#include "store/sqlite/file/migrate.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/operations.h"

static void sqlite_close(struct store *store) { connection_close(sqlite_store_of(store)); }

#define STORE(name) sqlite_##name
#include "store/operations/tables.h"

#define QUERY(name) SQLITE_Q_##name
#define LIST_ROWS(name, list, check, shape, to, ...)                                                         \
    struct operation op = operation_read(store, name, check, err);                                           \
    return operation_list(&op, statement_with(&op, list, __VA_ARGS__), &(shape), arena, to);
#include "store/operations/lists.h"
#undef STORE

static struct store sqlite_base(bool sessions) {
    return (struct store){
        .ops = &store_ops,
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
