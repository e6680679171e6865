/* Opening, closing and migrating a store by its URL. */
#include "store/store.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

enum dialect { DIALECT_SQLITE, DIALECT_POSTGRES };

static bool starts_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* libpq's "key=value …": recognised by the two keys that say where the server or the database is. */
static bool is_key_value(const char *url) {
    static const char *const keys[] = {"host=", "hostaddr=", "dbname=", "service="};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        for (const char *at = strstr(url, keys[i]); at != NULL; at = strstr(at + 1, keys[i])) {
            if (at == url || at[-1] == ' ')
                return true;
        }
    }
    return false;
}

/* The message quotes only the scheme: the rest may contain a password. */
static pawl_status dialect_find(const char *op, const char *url, enum dialect *dialect, pawl_error *err) {
    if (url == NULL || url[0] == '\0')
        return error_set(err, PAWL_INVALID, op,
                         "no database is named; give a file path for SQLite or postgres://host/database");
    if (starts_with(url, "postgres://") || starts_with(url, "postgresql://") || is_key_value(url)) {
        *dialect = DIALECT_POSTGRES;
        return PAWL_OK;
    }
    if (starts_with(url, "sqlite:")) {
        if (url[strlen("sqlite:")] == '\0')
            return error_set(err, PAWL_INVALID, op,
                             "sqlite: names no file; write sqlite:PATH, for example sqlite:pawl.db");
        *dialect = DIALECT_SQLITE;
        return PAWL_OK;
    }
    const char *scheme_end = strstr(url, "://");
    if (scheme_end != NULL) {
        pawl_str scheme = {url, (size_t)(scheme_end - url)};
        return error_set(err, PAWL_INVALID, op,
                         "%.*s:// is not a database pawl knows; use postgres://…, sqlite:PATH or a file path",
                         STR_ARG(scheme));
    }
    if (starts_with(url, "postgres:") || starts_with(url, "postgresql:"))
        return error_set(err, PAWL_INVALID, op,
                         "a PostgreSQL address needs two slashes: postgres://user@host:port/database");
    *dialect = DIALECT_SQLITE;
    return PAWL_OK;
}

const char *store_sqlite_path(const char *url) {
    enum dialect dialect = DIALECT_SQLITE;
    if (dialect_find("store_sqlite_path", url, &dialect, NULL) != PAWL_OK || dialect != DIALECT_SQLITE)
        return NULL;
    return starts_with(url, "sqlite:") ? url + strlen("sqlite:") : url;
}

pawl_status store_open(const struct store_config *config, struct store **store, pawl_error *err) {
    enum dialect dialect = DIALECT_SQLITE;
    pawl_status status = dialect_find("store_open", config->url, &dialect, err);
    if (status != PAWL_OK)
        return status;
    return dialect == DIALECT_SQLITE ? sqlite_open(config, store, err) : postgres_open(config, store, err);
}

void store_close(struct store *store) {
    if (store != NULL)
        store->ops->close(store);
}

pawl_status store_migrate(const struct store_config *config, const struct migrate_config *migrate,
                          struct migrate_result *out, pawl_error *err) {
    enum dialect dialect = DIALECT_SQLITE;
    pawl_status status = dialect_find("store_migrate", config->url, &dialect, err);
    if (status != PAWL_OK)
        return status;
    return dialect == DIALECT_SQLITE ? sqlite_migrate(config, migrate, out, err)
                                     : postgres_migrate(config, migrate, out, err);
}

pawl_status store_waker_open(const struct store_config *config, struct store_waker **waker, pawl_error *err) {
    enum dialect dialect = DIALECT_SQLITE;
    pawl_status status = dialect_find("store_waker_open", config->url, &dialect, err);
    if (status != PAWL_OK)
        return status;
    return dialect == DIALECT_SQLITE ? sqlite_waker_open(config, waker, err)
                                     : postgres_waker_open(config, waker, err);
}

void store_waker_close(struct store_waker *waker) {
    if (waker != NULL)
        waker->close(waker);
}

/* ---- What is left to do, for workers that stop when idle */

pawl_status store_left(struct store *store, int kinds, pawl_str queue, struct arena *arena,
                       struct work_left *out, pawl_error *err) {
    struct work_left left = {0};
    struct counts counts;
    struct job_counts_list jobs = {0};
    TRY(store->ops->view.counts(store, &counts, err));
    if ((kinds & KIND_BIT_JOBS) != 0)
        TRY(store->ops->jobs->counts(store, arena, &jobs, err));
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        const struct kind_counts *c = &counts.kind[kind];
        if ((kinds & KIND_BIT(kind)) == 0)
            continue;
        bool due = c->next_due_ms != 0 && c->next_due_ms <= counts.now_ms;
        left.due += c->ready + c->leased + due;
        if (c->next_due_ms > counts.now_ms) {
            bool paused = c->next_due_ms == PAWL_UNTIL_RESUMED_MS;
            int64_t wait_ms = paused ? 0 : c->next_due_ms - counts.now_ms;
            left.later += c->aside;
            if (wait_ms > 0)
                left.next_ms = left.next_ms == 0 || wait_ms < left.next_ms ? wait_ms : left.next_ms;
        }
    }
    for (size_t i = 0; i < jobs.count; i++) {
        if (str_absent(queue) || str_equal(queue, jobs.queues[i].queue))
            left.due += jobs.queues[i].running;
    }
    *out = left;
    return PAWL_OK;
}
