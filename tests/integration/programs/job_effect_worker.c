/* A worker for tests whose handler writes a row and ends its job in one transaction of its own. The table
 * "effect" has no key, so an effect that happens twice is seen. */
#include <libpq-fe.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pawl_pg.h"
#include "pawl_sqlite.h"

enum { LINES = 16, TEXT_BYTES = 200 };

/* A database connection of a handler. */
struct line {
    bool busy;
    PGconn *pg;
    sqlite3 *lite;
};

struct effect {
    const char *url, *schema;
    bool postgres;
    long pause_us; /* between the effect and the end of the job, and before the commit: kills fall there */
    pthread_mutex_t lock;
    struct line lines[LINES];
};

static long env_number(const char *name, long fallback) {
    const char *text = getenv(name);
    return text != NULL ? atol(text) : fallback;
}

static bool open_line(const struct effect *effect, struct line *line) {
    if (effect->postgres) {
        if (line->pg == NULL || PQstatus(line->pg) != CONNECTION_OK) {
            PQfinish(line->pg);
            line->pg = PQconnectdb(effect->url);
        }
        return PQstatus(line->pg) == CONNECTION_OK;
    }
    if (line->lite != NULL)
        return true;
    if (sqlite3_open(effect->url, &line->lite) != SQLITE_OK)
        return false;
    sqlite3_busy_timeout(line->lite, 30000);
    return sqlite3_exec(line->lite, "PRAGMA wal_autocheckpoint = 0", NULL, NULL, NULL) == SQLITE_OK;
}

static struct line *take_line(struct effect *effect) {
    struct line *found = NULL;
    pthread_mutex_lock(&effect->lock);
    for (int i = 0; i < LINES && found == NULL; i++)
        if (!effect->lines[i].busy)
            found = &effect->lines[i];
    if (found != NULL)
        found->busy = true;
    pthread_mutex_unlock(&effect->lock);
    return found;
}

static void give_line(struct effect *effect, struct line *line) {
    pthread_mutex_lock(&effect->lock);
    line->busy = false;
    pthread_mutex_unlock(&effect->lock);
}

static bool run(const struct line *line, const char *sql) {
    if (line->lite != NULL)
        return sqlite3_exec(line->lite, sql, NULL, NULL, NULL) == SQLITE_OK;
    PGresult *result = PQexec(line->pg, sql);
    bool fine = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return fine;
}

static void pause_here(const struct effect *effect) {
    if (effect->pause_us > 0)
        nanosleep(&(struct timespec){0, effect->pause_us * 1000}, NULL);
}

static pawl_outcome work(const struct effect *effect, struct line *line, const pawl_message *message,
                         pawl_result *result) {
    char sql[TEXT_BYTES];
    pawl_error err = {0};
    if (!open_line(effect, line) || !run(line, effect->postgres ? "BEGIN" : "BEGIN IMMEDIATE")) {
        snprintf(result->error, sizeof(result->error), "no transaction");
        return PAWL_RETRY;
    }
    snprintf(sql, sizeof(sql), "INSERT INTO effect VALUES (%lld, %lld, %d)", (long long)message->seq,
             (long long)message->token, (int)getpid());
    bool wrote = run(line, sql);
    pause_here(effect);
    pawl_status status = !wrote             ? PAWL_UNAVAILABLE
                         : effect->postgres ? pawl_finish_pg(line->pg, effect->schema, message, &err)
                                            : pawl_finish_sqlite(line->lite, message, &err);
    pause_here(effect);
    if (status == PAWL_OK && run(line, "COMMIT"))
        return PAWL_DONE;
    (void)run(line, "ROLLBACK");
    snprintf(result->error, sizeof(result->error), "%s", wrote ? err.text : "the effect was not written");
    return PAWL_RETRY;
}

static pawl_outcome handle(const pawl_message *message, pawl_result *result, void *self) {
    struct effect *effect = self;
    struct line *line = take_line(effect);
    if (line == NULL)
        return PAWL_SNOOZE;
    pawl_outcome outcome = work(effect, line, message, result);
    give_line(effect, line);
    return outcome;
}

static void print_log(void *self, int level, const char *line) {
    (void)self;
    (void)level;
    fprintf(stderr, "%d %s\n", (int)getpid(), line);
}

static pawl_status serve(struct effect *effect, bool *forced, pawl_error *err) {
    pawl_worker *worker = NULL;
    pawl_worker_config config = {
        .store = {.url = effect->url,
                  .schema = effect->schema,
                  .statement_timeout_ms = (int)env_number("EFFECT_STATEMENT_MS", 0)},
        .jobs = true,
        .concurrency = (int)env_number("EFFECT_CONCURRENCY", 2),
        .job_lease_ms = env_number("EFFECT_LEASE_MS", 2000),
        .instance_lease_ms = env_number("EFFECT_LEASE_MS", 2000),
        .heartbeat_ms = 300,
        .poll_ms = 50,
        .own_process = true,
        .on_log = print_log,
        .log_level = 2,
    };
    pawl_status status = pawl_worker_create(&config, &worker, err);
    if (status == PAWL_OK)
        status = pawl_worker_on(worker, "*", &(pawl_handler){.function = handle, .self = effect}, err);
    if (status == PAWL_OK)
        status = pawl_worker_run(worker, forced, err);
    pawl_worker_free(worker);
    return status;
}

int main(int argc, char **argv) {
    pawl_error err = {0};
    bool forced = false;
    if (argc != 2) {
        fprintf(stderr, "usage: job_effect_worker URL\n");
        return 64;
    }
    struct effect effect = {.url = argv[1],
                            .schema = getenv("PAWL_SCHEMA"),
                            .postgres = strncmp(argv[1], "postgres", 8) == 0 || strchr(argv[1], '=') != NULL,
                            .pause_us = env_number("EFFECT_PAUSE_US", 300),
                            .lock = PTHREAD_MUTEX_INITIALIZER};
    pawl_status status = serve(&effect, &forced, &err);
    if (status != PAWL_OK)
        fprintf(stderr, "job_effect_worker: %s\n", err.text);
    for (int i = 0; i < LINES; i++) {
        PQfinish(effect.lines[i].pg);
        sqlite3_close(effect.lines[i].lite);
    }
    return status != PAWL_OK ? 1 : forced ? 75 : 0;
}
