/* pawl up: a worker in the foreground that shows what it does. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/time/clock.h"
#include "cli/commands.h"
#include "cli/worker/up_server.h"
#include "cli/worker/worker_setup.h"

enum { LINE_MS = 500, LINE_BYTES = 240 };

struct up {
    struct cli *cli;
    pawl_worker *worker;
    bool until_idle, terminal;
    pthread_mutex_t lock; /* of the terminal's last line */
    bool line_shown;
    atomic_bool ending;
    int64_t done_before, at_ms;
};

static void clear_line(struct up *up) {
    if (up->line_shown)
        fputs("\r\x1b[K", stderr);
    up->line_shown = false;
}

/* Events go above the status line. */
static void print_log(void *self, int level, const char *line) {
    struct up *up = self;
    (void)level;
    pthread_mutex_lock(&up->lock);
    clear_line(up);
    fprintf(stderr, "%s\n", line);
    pthread_mutex_unlock(&up->lock);
}

static void stop_when_idle(void *self) {
    struct up *up = self;
    pawl_worker_stop(up->worker);
}

static void make_line(struct up *up, const struct counts *counts, char line[static LINE_BYTES]) {
    int64_t ready = 0, leased = 0, aside = 0, dead = 0, oldest_ms = 0;
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        const struct kind_counts *row = &counts->kind[kind];
        ready += row->ready;
        leased += row->leased;
        aside += row->aside;
        dead += row->dead;
        if (row->oldest_ready_ms > 0 && (oldest_ms == 0 || row->oldest_ready_ms < oldest_ms))
            oldest_ms = row->oldest_ready_ms;
    }
    pawl_metrics metrics;
    pawl_worker_metrics(up->worker, &metrics);
    int64_t now_ms = clock_boot_ms();
    double seconds = (double)(now_ms - up->at_ms) / 1000.0;
    double rate = seconds > 0 ? (double)(metrics.completed - up->done_before) / seconds : 0;
    char age[CLOCK_DURATION_BYTES] = "0";
    if (oldest_ms > 0 && counts->now_ms > oldest_ms)
        clock_format_duration((counts->now_ms - oldest_ms) / 1000 * 1000, age);
    up->done_before = metrics.completed;
    up->at_ms = now_ms;
    snprintf(line, LINE_BYTES,
             "%s  waiting %" PRId64 " (oldest %s)  running %" PRId64 "  done %" PRId64
             " (%.0f/s)  failed %" PRId64 "  retrying %" PRId64 "  dead %" PRId64,
             metrics.state[0] != '\0' ? metrics.state : "STARTING", ready, age, leased, metrics.completed,
             rate, metrics.failed, aside, dead);
    size_t len = strlen(line);
    if (metrics.jobs.processed + metrics.jobs.running > 0)
        snprintf(line + len, LINE_BYTES - len, "  jobs done %" PRId64 " (%" PRId64 " running)",
                 metrics.jobs.succeeded, metrics.jobs.running);
}

/* A thread of its own, with the command's own store handle: a slow database must not hold up the worker. */
static void *show_status(void *self) {
    struct up *up = self;
    up->at_ms = clock_boot_ms();
    while (!atomic_load(&up->ending)) {
        struct counts counts;
        pawl_error ignored;
        char line[LINE_BYTES] = "the database does not answer";
        if (up->cli->store->ops->view.counts(up->cli->store, &counts, &ignored) == PAWL_OK)
            make_line(up, &counts, line);
        pthread_mutex_lock(&up->lock);
        clear_line(up);
        fprintf(stderr, "%s", line);
        fflush(stderr);
        up->line_shown = true;
        pthread_mutex_unlock(&up->lock);
        for (int waited_ms = 0; waited_ms < LINE_MS && !atomic_load(&up->ending); waited_ms += 50)
            nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
    return NULL;
}

static pawl_status run_shown(struct up *up, pawl_error *err) {
    pthread_t thread;
    bool shown = up->terminal && thread_start(&thread, show_status, up) == 0;
    pawl_status status = worker_setup_run(up->cli, up->worker, err);
    atomic_store(&up->ending, true);
    if (shown)
        pthread_join(thread, NULL);
    clear_line(up);
    pawl_metrics metrics;
    pawl_worker_metrics(up->worker, &metrics);
    if (metrics.jobs.processed > 0)
        fprintf(stderr, "pawl: jobs done %" PRId64 ", failed attempts %" PRId64 ", dead %" PRId64 "\n",
                metrics.jobs.succeeded, metrics.jobs.failed, metrics.jobs.dead);
    fprintf(stderr,
            "pawl: done %" PRId64 ", failed attempts %" PRId64 ", dead letters %" PRId64
            ", given back %" PRId64 "\n",
            metrics.completed, metrics.failed, metrics.dead, metrics.released);
    return status;
}

static pawl_status run(struct cli *cli, pawl_error *err) {
    struct up up = {.cli = cli,
                    .until_idle = cli_value(cli, "until_idle").present,
                    .terminal = isatty(STDERR_FILENO) != 0};
    pthread_mutex_init(&up.lock, NULL);
    pawl_worker_config config;
    pawl_status status = worker_setup_config(cli, &config, err);
    if (status != PAWL_OK)
        return status;
    config.observe = !worker_setup_has_work(cli, &config);
    config.on_log = print_log;
    config.on_idle = up.until_idle ? stop_when_idle : NULL;
    config.self = &up;
    if (config.observe)
        fputs("pawl: no handler is given, so nothing is handled; add --on 'order.*=exec:./handle.sh'\n",
              stderr);
    /* The command's own handle is open across the fork, but the other process never uses it. */
    bool serve = options_bool(&cli->arguments.options, OPTION_SERVE) && !up.until_idle;
    pid_t server = serve ? up_server_start(cli) : -1;
    status = worker_setup(cli, &config, &up.worker, err);
    if (status == PAWL_OK)
        status = run_shown(&up, err);
    up_server_stop(server);
    pawl_worker_free(up.worker);
    pthread_mutex_destroy(&up.lock);
    return status;
}

static const struct field fields[] = {WORKER_FIELDS};

static const struct operation commands[] = {
    {OPERATION("up", "Run a worker and the server in the foreground and show their activity"), FIELDS(fields),
     .options = WORKER_OPTIONS | UP_SERVER_OPTIONS, .database = DATABASE_MAKE, .changes = CHANGES_WORK,
     .details =
         "Like pawl worker, with a status line when standard error is a terminal. A missing SQLite file is "
         "made. Without a handler it only watches. Beside it runs pawl server, on 127.0.0.1:7295 unless "
         "--listen says otherwise: its first start prints the dashboard's address, on a terminal with the "
         "operator's token. It ends with the worker; --serve=false and --until-idle leave it out.",
     .example = "pawl up --on 'order.*=exec:./handle.sh'\n"
                "DATABASE_URL=postgres://db/app pawl up --handlers handlers.ini",
     .terminal = run},
};

const struct operation_table up_commands = OPERATION_TABLE(commands);
