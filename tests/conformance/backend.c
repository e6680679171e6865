/* The three backends of the suite: an SQLite file, PostgreSQL, and PostgreSQL with a pooler. */
#include "conformance/backend.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/pgtemplate.h"
#include "conformance/pooler.h"

enum place { PLACE_SQLITE, PLACE_POSTGRES, PLACE_PGBOUNCER };

struct backend {
    enum place place;
    char dir[64];                    /* SQLite: holds the files */
    char url[PGSERVER_URL_BYTES];    /* what the store is opened with */
    char direct[PGSERVER_URL_BYTES]; /* PostgreSQL: the same database without the pooler; dropped when done */
    struct pgtemplate *template;
    struct pooler *pooler;
    int count;
};

static bool start_sqlite(struct backend *backend) {
    snprintf(backend->dir, sizeof backend->dir, "/tmp/pawl-conformance-XXXXXX");
    return mkdtemp(backend->dir) != NULL;
}

static bool start_postgres(struct backend *backend) {
    if (pgserver_url() == NULL)
        return false;
    if (backend->place == PLACE_PGBOUNCER)
        backend->pooler = pooler_start(pgserver_url());
    return backend->place == PLACE_POSTGRES || backend->pooler != NULL;
}

struct backend *backend_start(const char *name) {
    static const char *const names[] = {"sqlite", "postgres", "pgbouncer"};
    struct backend *backend = calloc(1, sizeof *backend);
    if (backend == NULL)
        return NULL;
    int place = 0;
    while (place < 3 && strcmp(names[place], name) != 0)
        place++;
    backend->place = (enum place)place;
    bool started = false;
    if (place == PLACE_SQLITE)
        started = start_sqlite(backend);
    else if (place == PLACE_POSTGRES || place == PLACE_PGBOUNCER)
        started = start_postgres(backend);
    if (!started) {
        fprintf(stderr, "conformance: no store \"%s\" here (known: sqlite, postgres, pgbouncer)\n", name);
        backend_stop(backend);
        return NULL;
    }
    return backend;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place) {
    (void)about, (void)kind, (void)place;
    return remove(path);
}

static void drop_current(struct backend *backend) {
    if (backend->direct[0] != '\0')
        pgserver_drop_database(backend->direct);
    backend->direct[0] = '\0';
}

void backend_stop(struct backend *backend) {
    if (backend == NULL)
        return;
    drop_current(backend);
    pooler_stop(backend->pooler);
    pgtemplate_free(backend->template);
    if (backend->dir[0] != '\0' && nftw(backend->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0)
        fprintf(stderr, "conformance: %s is left behind\n", backend->dir);
    free(backend);
}

bool backend_sides_start(struct backend *sides[static BACKEND_SIDES]) {
    const char *second = getenv("PAWL_DIFF_SECOND");
    sides[0] = backend_start("sqlite");
    sides[1] = backend_start(second != NULL ? second : "postgres");
    bool both = sides[0] != NULL && sides[1] != NULL;
    if (!both)
        backend_sides_stop(sides);
    return both;
}

void backend_sides_stop(struct backend *const sides[static BACKEND_SIDES]) {
    for (int i = 0; i < BACKEND_SIDES; i++)
        backend_stop(sides[i]);
}

struct store_config backend_current(struct backend *backend) {
    /* No power is cut here; the disk would only be waited for. */
    return (struct store_config){.url = backend->url, .durability = DURABILITY_NORMAL};
}

static bool copy_template(struct backend *backend) {
    struct migrate_config migrate = {.partition_count = TEST_PARTITIONS, .lane_count = TEST_LANES};
    if (backend->template == NULL)
        backend->template = pgtemplate_make(&migrate);
    return backend->template != NULL && pgtemplate_copy(backend->template, backend->direct);
}

static void fresh_postgres(struct backend *backend, bool blank) {
    drop_current(backend);
    bool made = blank ? pgserver_create_database("blank", backend->direct) : copy_template(backend);
    if (!made)
        fprintf(stderr,
                "conformance: no fresh database\n"); /* the store then cannot be opened: the test fails */
    if (backend->pooler != NULL)
        pooler_address(backend->pooler, backend->direct, backend->url);
    else
        snprintf(backend->url, sizeof backend->url, "%s", backend->direct);
}

static struct store_config fresh(struct backend *backend, bool blank) {
    backend->count++;
    switch (backend->place) {
    case PLACE_SQLITE:
        snprintf(backend->url, sizeof backend->url, "%s/%d.db", backend->dir, backend->count);
        break;
    case PLACE_POSTGRES:
    case PLACE_PGBOUNCER:
        fresh_postgres(backend, blank);
        break;
    }
    return backend_current(backend);
}

struct store_config backend_fresh(struct backend *backend) {
    return fresh(backend, true);
}
struct store_config backend_ready(struct backend *backend) {
    return fresh(backend, false);
}

bool backend_pooled(const struct backend *backend) { return backend->pooler != NULL; }
