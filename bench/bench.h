/* What the benchmark program's parts share: the options of one measurement and the contestants it compares.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdio.h>

#include "store/store.h"

enum {
    BENCH_THREADS_MAX = 128,
    BENCH_BATCH_MAX = 5000,
    BENCH_FILL_BATCH = 1000,
    BENCH_SQL_BYTES_MAX = 65536,
    BENCH_LEASE_MS = 600000, /* longer than any measurement: nothing expires while we measure */
    BENCH_SAMPLES_MAX = 1000000,
    BENCH_STATUS_DONE = 2, /* Published */
};

/* One measurement: one contestant, one setting. */
struct bench_options {
    const char *workload;
    const char *side; /* pawl, floor, pgq; empty also knows sql */
    const char *url;  /* of the store */
    bool durable;     /* SQLite: synchronous FULL (true) or NORMAL */
    int64_t messages; /* how many are put or drained in all */
    int64_t streams;
    int batch;
    int threads; /* connections of a put, instances of a drain, handlers at once of a worker */
    int seconds; /* bounded by time instead of by messages, where a workload says so */
    int samples;
    int reps;  /* backlog only: how often a level is measured; elsewhere one run of the program is one
                  repetition */
    bool hold; /* steady: a foreign transaction stays open */
    const char *transports; /* worker: publish through this file instead of handling */
    const char *sql_dir;
};

/* One connection of a contestant; each contestant's own struct begins with it. */
struct side {
    const struct bench_options *options;
};

/* What one drain call did. */
struct drained {
    int claimed;
    int done;
};

/*
 * A contestant. Every workload is written once against these and run with pawl, with its floor and with PgQ,
 * so that all of them do the same work in the same loop. A side is one connection; calls on it come from one
 * thread.
 */
struct side_ops {
    /* A fresh, empty home: schema or file made anew. */
    pawl_status (*prepare)(const struct bench_options *options, pawl_error *err);
    /* Connection number index of count. */
    pawl_status (*open)(const struct bench_options *options, int index, int count, struct side **side,
                        pawl_error *err);
    void (*close)(struct side *side); /* takes NULL */

    /* Puts all of them in one transaction. */
    pawl_status (*put)(struct side *side, const pawl_outgoing *messages, size_t count, pawl_error *err);

    /* Makes the side a consumer; lanes are shared out by settle. NULL: nothing to do. */
    pawl_status (*join)(struct side *side, pawl_error *err);
    /* Called in turn for every consumer until all say they are settled. NULL: nothing to do. */
    pawl_status (*settle)(struct side *side, bool *settled, pawl_error *err);
    /* Ends what the last drain or claim got and gets up to max more, in one transaction and one round trip.
     */
    pawl_status (*drain)(struct side *side, int max, struct drained *out, pawl_error *err);
    /* The two halves of drain, each alone. */
    pawl_status (*claim)(struct side *side, int max, int *claimed, pawl_error *err);
    pawl_status (*finish)(struct side *side, pawl_error *err);
};

extern const struct side_ops side_pawl;
extern const struct side_ops side_floor_postgres;
extern const struct side_ops side_floor_sqlite;
extern const struct side_ops side_pgq;
/* Only prepare, open, close and put: a put is one append to the stream of its first message. */
extern const struct side_ops side_append_pawl;
extern const struct side_ops side_append_postgres;
extern const struct side_ops side_append_sqlite;

/* True for a URL of PostgreSQL, false for a SQLite file. */
bool bench_is_postgres(const char *url);

/* Removes a SQLite file with its -wal and -shm. */
void bench_unlink_sqlite(const char *url);

/* The path inside a SQLite URL. */
const char *bench_sqlite_path(const char *url);

/* The contestant that the options name, NULL when there is none of that name for that store. */
const struct side_ops *bench_side(const struct bench_options *options);

/* The statement DIALECT/NAME: below `-- name: NAME` in the file DIALECT.sql of --sql-dir; in the arena. */
pawl_status bench_sql(const struct bench_options *options, struct arena *arena, const char *name,
                      const char **text, pawl_error *err);

/* Before measuring: what is dirty is written, so that no measurement pays for what came before. */
pawl_status bench_calm(const struct bench_options *options, pawl_error *err);

/* The workloads; each prints one JSON object on one line. */
pawl_status workload_put(const struct bench_options *options, pawl_error *err);
pawl_status workload_drain(const struct bench_options *options, pawl_error *err);
pawl_status workload_backlog(const struct bench_options *options, pawl_error *err);
pawl_status workload_steady(const struct bench_options *options, pawl_error *err);
pawl_status workload_empty(const struct bench_options *options, pawl_error *err);
pawl_status workload_notify(const struct bench_options *options, pawl_error *err);
pawl_status workload_worker(const struct bench_options *options, pawl_error *err);
pawl_status workload_latency(const struct bench_options *options, pawl_error *err);
pawl_status workload_jobs(const struct bench_options *options, pawl_error *err);
pawl_status workload_jobs_worker(const struct bench_options *options, pawl_error *err);
/* Enqueues the jobs of a measurement; the time it took. */
pawl_status bench_jobs_fill(const struct bench_options *options, int64_t *spent_us, pawl_error *err);
pawl_status workload_append(const struct bench_options *options, pawl_error *err);
pawl_status workload_project(const struct bench_options *options, pawl_error *err);
pawl_status workload_runs(const struct bench_options *options, pawl_error *err);
pawl_status workload_history(const struct bench_options *options, pawl_error *err);
pawl_status workload_idle(const struct bench_options *options, pawl_error *err);

#endif
