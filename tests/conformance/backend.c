/* The four places where the suite runs: memory, a SQLite file, PostgreSQL, and PostgreSQL behind a pooler. */
#include "conformance/backend.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/pooler.h"
#include "support/pgserver.h"

enum place { PLACE_MODEL, PLACE_SQLITE, PLACE_POSTGRES, PLACE_PGBOUNCER };

struct backend {
    enum place place;
    char dir[64];                        /* SQLite: holds the files */
    char server_url[PGSERVER_URL_BYTES]; /* PostgreSQL: a database of this run */
    char url[PGSERVER_URL_BYTES];
    char schema[32];
    struct pooler *pooler;
    int count;
};

static bool start_sqlite(struct backend *backend) {
    snprintf(backend->dir, sizeof backend->dir, "/tmp/pawl-conformance-XXXXXX");
    return mkdtemp(backend->dir) != NULL;
}

static bool start_postgres(struct backend *backend) {
    if (!pgserver_create_database("conformance", backend->server_url))
        return false;
    if (backend->place == PLACE_POSTGRES) {
        snprintf(backend->url, sizeof backend->url, "%s", backend->server_url);
        return true;
    }
    backend->pooler = pooler_start(backend->server_url, backend->url);
    return backend->pooler != NULL;
}

struct backend *backend_start(const char *name) {
    static const char *const names[] = {"model", "sqlite", "postgres", "pgbouncer"};
    struct backend *backend = calloc(1, sizeof *backend);
    if (backend == NULL)
        return NULL;
    int place = 0;
    while (place < 4 && strcmp(names[place], name) != 0)
        place++;
    backend->place = (enum place)place;
    bool started = place == PLACE_MODEL;
    if (place == PLACE_SQLITE)
        started = start_sqlite(backend);
    else if (place == PLACE_POSTGRES || place == PLACE_PGBOUNCER)
        started = start_postgres(backend);
    if (!started) {
        fprintf(stderr, "conformance: no store \"%s\" here (known: model, sqlite, postgres, pgbouncer)\n",
                name);
        backend_stop(backend);
        return NULL;
    }
    return backend;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place) {
    (void)about, (void)kind, (void)place;
    return remove(path);
}

void backend_stop(struct backend *backend) {
    if (backend == NULL)
        return;
    pooler_stop(backend->pooler);
    if (backend->server_url[0] != '\0')
        pgserver_drop_database(backend->server_url);
    if (backend->dir[0] != '\0' && nftw(backend->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0)
        fprintf(stderr, "conformance: %s is left behind\n", backend->dir);
    free(backend);
}

struct store_config backend_current(struct backend *backend) {
    return (struct store_config){.url = backend->url,
                                 .schema = backend->schema[0] != '\0' ? backend->schema : NULL};
}

struct store_config backend_fresh(struct backend *backend) {
    backend->count++;
    switch (backend->place) {
    case PLACE_MODEL:
        snprintf(backend->url, sizeof backend->url, "model:?partitions=%d&lanes=%d", TEST_PARTITIONS,
                 TEST_LANES);
        break;
    case PLACE_SQLITE:
        snprintf(backend->url, sizeof backend->url, "%s/%d.db", backend->dir, backend->count);
        break;
    default:
        snprintf(backend->schema, sizeof backend->schema, "t%d", backend->count);
        break;
    }
    return backend_current(backend);
}

bool backend_shared(const struct backend *backend) { return backend->place != PLACE_MODEL; }
