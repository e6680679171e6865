/* The PostgreSQL store: opening, closing, and its tables of operations. */
#include <stdlib.h>

#include "base/error.h"
#include "base/uuid.h"
#include "store/check/jobs.h"
#include "store/postgres/query.h"

static void postgres_close(struct store *store) {
    if (store == NULL)
        return;
    struct postgres *self = postgres_of(store);
    if (!uuid_is_nil(self->alive) && self->conn != NULL) {
        /* Closing is not dying: release the lock now, so that peers need not wait until the server notices.
         */
        struct statement release = pg_statement_new(POSTGRES_Q_LIVENESS_RELEASE, NULL);
        self->alive = uuid_nil();
        if (pg_statement_run(self, "close", &release, EFFECT_READ, NULL) == PAWL_OK)
            pg_statement_clear(&release);
    }
    pg_connection_free(self);
    arena_free(self->scratch);
    free(store);
}

#define STORE(name) postgres_##name
#include "store/operations/tables.h"

#define QUERY(name) POSTGRES_Q_##name
#define LIST_ROWS(name, list, check, shape, to, ...)                                                         \
    struct query q = pg_read(store, list, name, arena, check);                                               \
    pg_params_add(&q.statement.params, __VA_ARGS__);                                                         \
    return pg_list(&q, &(shape), to, err);
#include "store/operations/lists.h"
#undef STORE

/* The schema must be of the version that this program was built with. */
static pawl_status version_check(struct postgres *self, pawl_error *err) {
    struct settings settings;
    pawl_status status = postgres_settings_read(&self->store, &settings, err);
    if (status != PAWL_OK)
        return status;
    int known = (int)sql_postgres_migrations_count;
    if (settings.schema_version > known)
        return error_set(err, PAWL_CONFLICT, "store_open",
                         "the schema has version %d, this program knows up to %d: upgrade pawl",
                         settings.schema_version, known);
    if (settings.schema_version < known)
        return error_set(err, PAWL_CONFLICT, "store_open",
                         "the schema has version %d, this program needs %d: run `pawl migrate`",
                         settings.schema_version, known);
    return PAWL_OK;
}

pawl_status postgres_open(const struct store_config *config, struct store **store, pawl_error *err) {
    struct postgres *self = calloc(1, sizeof *self);
    struct arena *scratch = arena_create(0);
    if (self == NULL || scratch == NULL) {
        arena_free(scratch);
        free(self);
        return error_set(err, PAWL_NO_MEMORY, "store_open", "no memory for a store");
    }
    self->scratch = scratch;
    self->store = (struct store){.ops = &store_ops,
                                 .caps = {.notify = true, .many_writers = true, .sessions = true},
                                 .dialect = "postgres"};
    pawl_status status = pg_connection_init(self, config, "store_open", err);
    if (status == PAWL_OK)
        status = pg_connection_ready(self, "store_open", err);
    if (status == PAWL_OK && !config->allow_version_mismatch)
        status = version_check(self, err);
    if (status != PAWL_OK) {
        postgres_close(&self->store);
        return status;
    }
    self->store.caps.sessions = self->store.caps.notify = self->address.direct;
    self->store.caps.role = self->role[0] != '\0';
    *store = &self->store;
    return PAWL_OK;
}
