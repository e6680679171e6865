/* pawl-bench: one measurement of one contestant, printed as one line of JSON; bench/run compares them. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench.h"

static const struct {
    const char *name;
    pawl_status (*run)(const struct bench_options *options, pawl_error *err);
} workloads[] = {
    {"put", workload_put},         {"drain", workload_drain},     {"backlog", workload_backlog},
    {"steady", workload_steady},   {"empty", workload_empty},     {"notify", workload_notify},
    {"worker", workload_worker},   {"latency", workload_latency}, {"idle", workload_idle},
    {"history", workload_history}, {"jobs", workload_jobs},       {"jobs-worker", workload_jobs_worker},
    {"append", workload_append},   {"project", workload_project}, {"runs", workload_runs},
};

static const char usage[] =
    "usage: pawl-bench WORKLOAD --store URL [option]...\n"
    "Measures one contestant once and prints one JSON object. `bench/run` runs and compares them all.\n"
    "\n"
    "  WORKLOAD         put, drain, backlog, steady, empty, notify, worker, latency, idle, history, jobs,\n"
    "                   jobs-worker, append, project or runs\n"
    "  --store URL      postgresql://... or the path of a SQLite file; what is there is DELETED\n"
    "  --side NAME      pawl (default), floor, pgq (PostgreSQL: put, drain), sql (PostgreSQL: empty)\n"
    "                   row (notify: with a row each way) or checkpoints (PostgreSQL: project, by hand\n"
    "                   with one for each stream)\n"
    "  --messages N     how many messages in all (default 10000)\n"
    "  --streams N      over how many streams (default 1000)\n"
    "  --batch N        messages per call (default 500)\n"
    "  --threads N      connections of a put, instances of a drain, handlers of a worker (default 1)\n"
    "  --seconds N      put: stop after this time instead of after N messages; steady, idle, history: how "
    "long; "
    "drain: give "
    "up after\n"
    "  --samples N      backlog, empty, notify, latency: calls to measure (default 100)\n"
    "  --reps N         backlog: repetitions of each level (default 1)\n"
    "  --hold           steady: keep a foreign transaction open\n"
    "  --normal         SQLite: synchronous NORMAL instead of FULL\n"
    "  --transports F   worker: publish the messages as this transports file says\n"
    "  --sql-dir DIR    where the floors' statements are\n";

enum {
    OPT_STORE = 1,
    OPT_SIDE,
    OPT_MESSAGES,
    OPT_STREAMS,
    OPT_BATCH,
    OPT_THREADS,
    OPT_SECONDS,
    OPT_SAMPLES,
    OPT_REPS,
    OPT_HOLD,
    OPT_NORMAL,
    OPT_SQL_DIR,
    OPT_TRANSPORTS,
    OPT_HELP
};

static const struct option long_options[] = {
    {"store", required_argument, NULL, OPT_STORE},
    {"side", required_argument, NULL, OPT_SIDE},
    {"messages", required_argument, NULL, OPT_MESSAGES},
    {"streams", required_argument, NULL, OPT_STREAMS},
    {"batch", required_argument, NULL, OPT_BATCH},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"seconds", required_argument, NULL, OPT_SECONDS},
    {"samples", required_argument, NULL, OPT_SAMPLES},
    {"reps", required_argument, NULL, OPT_REPS},
    {"hold", no_argument, NULL, OPT_HOLD},
    {"normal", no_argument, NULL, OPT_NORMAL},
    {"sql-dir", required_argument, NULL, OPT_SQL_DIR},
    {"transports", required_argument, NULL, OPT_TRANSPORTS},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static _Noreturn void refuse(const char *what, const char *value) {
    fprintf(stderr, "pawl-bench: %s: %s\n%s", what, value, usage);
    exit(ERROR_EXIT_USAGE);
}

static int64_t number(const char *name, const char *text, int64_t max) {
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < 1 || value > max) {
        fprintf(stderr, "pawl-bench: --%s takes a number from 1 to %lld, not %s\n", name, (long long)max,
                text);
        exit(ERROR_EXIT_USAGE);
    }
    return value;
}

static void parse_number(struct bench_options *options, int which, const char *text) {
    switch (which) {
    case OPT_MESSAGES:
        options->messages = number("messages", text, 1000000000);
        break;
    case OPT_STREAMS:
        options->streams = number("streams", text, 1000000000);
        break;
    case OPT_BATCH:
        options->batch = (int)number("batch", text, BENCH_BATCH_MAX);
        break;
    case OPT_THREADS:
        options->threads = (int)number("threads", text, BENCH_THREADS_MAX);
        break;
    case OPT_SECONDS:
        options->seconds = (int)number("seconds", text, 86400);
        break;
    case OPT_SAMPLES:
        options->samples = (int)number("samples", text, BENCH_SAMPLES_MAX);
        break;
    default:
        options->reps = (int)number("reps", text, 1000);
    }
}

static void parse(struct bench_options *options, int argc, char **argv) {
    int which = 0;
    while ((which = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (which) {
        case OPT_STORE:
            options->url = optarg;
            break;
        case OPT_SIDE:
            options->side = optarg;
            break;
        case OPT_HOLD:
            options->hold = true;
            break;
        case OPT_NORMAL:
            options->durable = false;
            break;
        case OPT_SQL_DIR:
            options->sql_dir = optarg;
            break;
        case OPT_TRANSPORTS:
            options->transports = optarg;
            break;
        case OPT_HELP:
            fputs(usage, stdout);
            exit(EXIT_SUCCESS);
        case '?':
            exit(ERROR_EXIT_USAGE);
        default:
            parse_number(options, which, optarg);
        }
    }
    if (optind + 1 != argc)
        refuse("one WORKLOAD is needed", optind < argc ? argv[optind + 1] : "none given");
    options->workload = argv[optind];
    if (options->url == NULL)
        refuse("--store is needed", "it says where to measure");
}

int main(int argc, char **argv) {
    struct bench_options options = {
        .side = "pawl",
        .durable = true,
        .messages = 10000,
        .streams = 1000,
        .batch = 500,
        .threads = 1,
        .samples = 100,
        .reps = 1,
        .sql_dir = BENCH_SQL_DIR,
    };
    parse(&options, argc, argv);
    bool own_sides = strcmp(options.workload, "empty") == 0 || strcmp(options.workload, "notify") == 0 ||
                     strcmp(options.workload, "project") == 0;
    if (!own_sides && bench_side(&options) == NULL)
        refuse("no such contestant for this store", options.side);
    for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
        if (strcmp(workloads[i].name, options.workload) == 0) {
            pawl_error err = {0};
            pawl_status status = workloads[i].run(&options, &err);
            if (status != PAWL_OK)
                fprintf(stderr, "pawl-bench: %s: %s: %s\n", pawl_status_name(status), err.op, err.text);
            return error_exit_code(status);
        }
    }
    refuse("no such workload", options.workload);
}
