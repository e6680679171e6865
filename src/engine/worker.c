/* The worker of the public API. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json/tree.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "engine/runtime/runtime.h"
#include "engine/worker_config.h"
#include "process/pipe.h"
#include "work/alerts/watch.h"
#include "work/broker/inbox.h"
#include "work/broker/outbox.h"
#include "work/observe.h"
#include "work/perspective/perspective.h"
#include "work/pipeline/builtin.h"
#include "work/pipeline/spine.h"
#include "work/receptors/feed.h"
#include "work/receptors/receptors.h"

struct pawl_worker {
    struct arena *arena; /* owns the texts of config */
    struct runtime_config config;
    struct handler_table *handlers;
    struct transport_settings *transports; /* NULL: no brokers */
    struct outbox *outbox;
    struct perspectives *perspectives; /* NULL: none */
    struct receptors *receptors;       /* made by run; NULL: none */
    struct receptor_feed *feed;        /* made by run; NULL: no receptors on events */
    struct alert_watch *alerts;        /* NULL: it does not watch */
    struct inbox *inbox;               /* made by run; NULL: no brokers */
    struct spine *spine;               /* made by run; NULL: no broker for it */
    struct duty *duties;               /* made by run: of all of these */
    struct observer *observer;
    bool kinds_chosen, tools_named;
    struct pipes *pipes; /* kept programs; made by run, NULL: none */
    struct tools *tools;
    const char **env;        /* names for pipelines, in the arena */
    struct runtime *runtime; /* made by run */
    pthread_mutex_t lock;    /* of runtime */
    atomic_int stops;        /* asked for before it ran */
    void (*on_log)(void *self, int level, const char *line);
    void *self;
};

static void log_line(void *self, enum log_level level, const char *line) {
    struct pawl_worker *worker = self;
    worker->on_log(worker->self, (int)level, line);
}

/* What the caller says of the instance, and which pawl it is: a deploy is told by it. */
static pawl_status copy_metadata(struct pawl_worker *worker, const char *said, pawl_str *out,
                                 pawl_error *err) {
    const struct tree *tree = &tree_empty;
    pawl_str text = said != NULL ? str_trim(str_from(said)) : STR("{}");
    if (said != NULL)
        TRY(tree_parse(worker->arena, text, NULL, &tree, err));
    if (tree->kind != TREE_OBJECT || tree_get_cstr(tree, "pawl_version") != NULL)
        return str_dup(worker->arena, text, out, err);
    char *made = arena_printf(worker->arena, "{\"pawl_version\":\"" PAWL_VERSION "\"%s%.*s",
                              tree->count > 0 ? "," : "", STR_ARG(str_from(text.ptr + 1)));
    *out = str_from(made);
    return made != NULL ? PAWL_OK : error_no_memory(err, "worker");
}

/* Texts of the caller's live as long as the worker. */
static pawl_status copy_texts(struct pawl_worker *worker, const pawl_worker_config *in, pawl_error *err) {
    char host[256] = "unknown";
    gethostname(host, sizeof(host) - 1);
    struct engine_config *engine = &worker->config.engine;
    pawl_status status = str_dup(worker->arena, str_from(in->service != NULL ? in->service : "pawl"),
                                 &engine->instance.service, err);
    if (status == PAWL_OK)
        status = str_dup(worker->arena, str_from(host), &engine->instance.host, err);
    if (status == PAWL_OK)
        status = copy_metadata(worker, in->metadata, &engine->instance.metadata, err);
    worker->config.store.url = arena_strdup(worker->arena, in->store.url);
    worker->config.store.schema = in->store.schema != NULL ? arena_strdup(worker->arena, in->store.schema)
                                                           : NULL;
    if (status == PAWL_OK && worker->config.store.url == NULL)
        status = error_no_memory(err, "worker");
    if (status == PAWL_OK && in->instance != NULL) {
        engine->fixed_id = true;
        if (!uuid_parse(str_from(in->instance), &engine->instance.id))
            status =
                error_set(err, PAWL_INVALID, "worker",
                          "worker_id is '%s', which is not a UUID: leave it out, and each start draws one",
                          in->instance);
    }
    return status;
}

/* "HOME, LANG" as names. */
static pawl_status read_env(struct pawl_worker *worker, const char *text, pawl_error *err) {
    pawl_str rest = str_from(text);
    worker->env = arena_array(worker->arena, rest.len / 2 + 2, sizeof(char *));
    if (worker->env == NULL)
        return error_no_memory(err, "worker");
    while (rest.len > 0) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        pawl_str word = {rest.ptr, comma != NULL ? (size_t)(comma - rest.ptr) : rest.len};
        size_t used = comma != NULL ? word.len + 1 : word.len;
        rest = (pawl_str){rest.ptr + used, rest.len - used};
        word = str_trim(word);
        char *name = word.len > 0 ? arena_copy(worker->arena, word.ptr, word.len) : NULL;
        if (name != NULL)
            worker->env[worker->config.jobs.env_count++] = name;
    }
    worker->config.jobs.env = worker->env;
    return PAWL_OK;
}

/* What jobs need besides what all work needs. */
static pawl_status set_up_jobs(struct pawl_worker *worker, const pawl_worker_config *in, pawl_error *err) {
    struct runtime_jobs *jobs = &worker->config.jobs;
    struct engine_config *engine = &worker->config.engine;
    char name[32];
    if ((engine->instance.kinds & KIND_BIT_JOBS) == 0)
        return PAWL_OK;
    snprintf(name, sizeof(name), "worker-%d", (int)getpid());
    jobs->timeout_ms = in->timeout_ms;
    pawl_status status = str_dup(worker->arena, str_from(in->queue), &engine->queue, err);
    if (status == PAWL_OK)
        status = read_env(worker, in->pipeline_env, err);
    if (status == PAWL_OK)
        status = tools_create(name, &worker->tools, err);
    if (status == PAWL_OK && in->tools != NULL)
        status = tools_add_file(worker->tools, in->tools, err);
    if (status == PAWL_OK)
        status = builtin_add(worker->tools, err);
    if (status == PAWL_OK)
        tools_limit(worker->tools, in->tools_timeout_ms);
    if (status == PAWL_OK)
        tools_log(worker->tools, &worker->config.log); /* the runtime's is gone before their programs are */
    jobs->tools = worker->tools;
    return status;
}

static pawl_status add_perspectives(struct pawl_worker *worker, const pawl_worker_config *in,
                                    pawl_error *err) {
    struct perspectives_config config = {.store = worker->config.store,
                                         .lease_ms = worker->config.engine.lease_ms,
                                         .poll_ms = worker->config.engine.poll_ms,
                                         .timeout_ms = in->timeout_ms,
                                         .helpers = worker->config.engine.slots - 1,
                                         .outside = in->perspectives_outside,
                                         .observer = worker->observer,
                                         .log = &worker->config.log};
    worker->config.engine.checkpoints = in->perspectives_outside;
    pawl_status status = perspectives_create(&config, worker->handlers, &worker->perspectives, err);
    worker->config.perspectives = worker->perspectives;
    return status;
}

static pawl_status add_feed(struct pawl_worker *worker, pawl_error *err) {
    if (worker->handlers->event_receptors > 0 &&
        (worker->config.engine.instance.kinds & KIND_BIT(KIND_INBOX)) == 0)
        return error_set(err, PAWL_INVALID, "worker",
                         "receptors on events need the kind inbox: leave --kinds out, or add it");
    pawl_status status = PAWL_OK;
    if (worker->handlers->event_receptors > 0)
        status = receptor_feed_create(&worker->config.store, worker->config.engine.poll_ms, worker->handlers,
                                      &worker->config.log, &worker->feed, err);
    worker->config.feed = worker->feed;
    return status;
}

pawl_status pawl_worker_create(const pawl_worker_config *in, pawl_worker **out, pawl_error *err) {
    struct engine_config engine = {0};
    pawl_status status = worker_config_read(in, &engine, err);
    if (status != PAWL_OK)
        return status;
    struct pawl_worker *worker = calloc(1, sizeof(*worker));
    if (worker == NULL)
        return error_no_memory(err, "worker");
    pthread_mutex_init(&worker->lock, NULL);
    worker->arena = arena_create(0);
    worker->on_log = in->on_log;
    worker->self = in->self;
    worker->tools_named = in->tools != NULL;
    worker->kinds_chosen = in->outbox || in->inbox || in->jobs || in->perspectives || in->observe;
    worker->config = (struct runtime_config){
        .engine = engine,
        .store = {.durability = in->store.durability_normal ? DURABILITY_NORMAL : DURABILITY_FULL,
                  .connect_timeout_ms = in->store.connect_timeout_ms,
                  .statement_timeout_ms = in->store.statement_timeout_ms},
        .own_process = in->own_process,
        .ready = in->ready,
        .on_started = in->on_started,
        .on_idle = in->on_idle,
        .on_tick = in->on_tick,
        .self = in->self,
        .log = {.level = in->on_log != NULL ? (enum log_level)in->log_level : LOG_LEVEL_OFF,
                .callback = log_line,
                .self = worker},
    };
    worker->observer = calloc(1, sizeof(*worker->observer));
    worker->config.observer = worker->observer;
    if (worker->arena == NULL || worker->observer == NULL)
        status = error_no_memory(err, "worker");
    if (status == PAWL_OK)
        status = copy_texts(worker, in, err);
    if (status == PAWL_OK)
        status = handler_table_create(&worker->handlers, err);
    if (status == PAWL_OK) {
        worker->handlers->defaults.timeout_ms = in->timeout_ms;
        worker->handlers->defaults.retry_base_ms = in->retry_base_ms;
        worker->handlers->defaults.retry_max_ms = in->retry_max_ms;
        worker->handlers->defaults.retry_exact = in->retry_exact;
    }
    if (status == PAWL_OK && in->perspectives)
        status = add_perspectives(worker, in, err);
    worker->config.handlers = worker->handlers;
    if (status == PAWL_OK)
        status = set_up_jobs(worker, in, err);
    if (status == PAWL_OK && in->alert_interval_ms != 0) {
        struct alert_watch_config alerts = {.store = worker->config.store,
                                            .interval_ms = in->alert_interval_ms,
                                            .targets = in->alert_targets,
                                            .log = worker->config.log};
        status = alert_watch_create(&alerts, &worker->alerts, err);
    }
    if (status != PAWL_OK) {
        pawl_worker_free(worker);
        return status;
    }
    *out = worker;
    return PAWL_OK;
}

pawl_status pawl_worker_on(pawl_worker *worker, const char *pattern, const pawl_handler *handler,
                           pawl_error *err) {
    return handler_table_add(worker->handlers, str_from(pattern), handler, err);
}

pawl_status pawl_worker_perspective(pawl_worker *worker, const char *name, int version,
                                    pawl_perspective_fn function, void *self, pawl_error *err) {
    if (worker->perspectives == NULL)
        return error_set(err, PAWL_CONFLICT, "worker",
                         "the worker has no perspectives; set config.perspectives");
    if (name == NULL || function == NULL)
        return error_set(err, PAWL_INVALID, "worker", "a perspective in C needs a name and a function");
    return perspectives_function(worker->perspectives, str_from(name), version, function, self, err);
}

pawl_status pawl_worker_tool(pawl_worker *worker, const char *name, pawl_tool_fn function, void *self,
                             pawl_error *err) {
    if (worker->tools == NULL)
        return error_set(err, PAWL_CONFLICT, "worker", "the worker does not work on jobs; set config.jobs");
    worker->tools_named = true;
    return tool_function_add(worker->tools, worker->arena, name, function, self, err);
}

pawl_status pawl_worker_on_file(pawl_worker *worker, const char *path, pawl_error *err) {
    return handler_table_add_file(worker->handlers, path, err);
}

pawl_status pawl_worker_on_spec(pawl_worker *worker, const char *spec, pawl_error *err) {
    return handler_table_add_spec(worker->handlers, str_from(spec), err);
}

/* A loopback that names no database means the worker's own. */
static pawl_status name_own_database(struct pawl_worker *worker, pawl_error *err) {
    for (size_t i = 0; i < worker->transports->transport_count; i++) {
        struct transport_setting *setting = &worker->transports->transports[i];
        struct transport_config *config = &setting->config;
        if (strcmp(setting->module->name, "loopback") != 0 ||
            transport_option(config, "database-url") != NULL)
            continue;
        if (config->option_count == TRANSPORT_OPTIONS_MAX)
            return error_set(err, PAWL_INVALID, "transports file", "%s has too many settings", setting->name);
        setting->options[config->option_count++] =
            (struct transport_option){"database-url", worker->config.store.url};
    }
    return PAWL_OK;
}

pawl_status pawl_worker_transports(pawl_worker *worker, const char *path, pawl_error *err) {
    if (worker->transports != NULL)
        return error_set(err, PAWL_CONFLICT, "worker", "the worker has a transports file already");
    pawl_status status = transport_settings_read(path, &worker->transports, err);
    if (status == PAWL_OK)
        status = name_own_database(worker, err);
    if (status == PAWL_OK)
        status = outbox_create(worker->transports, worker->config.engine.instance.service,
                               &worker->config.log, worker->handlers, &worker->outbox, err);
    return status;
}

/* Lanes of a kind that nothing here can handle are left to others. */
static void choose_kinds(struct pawl_worker *worker) {
    const struct handler_table *table = worker->handlers;
    if (!worker->kinds_chosen && worker->transports == NULL && table->count == 0 && worker->tools_named)
        worker->config.engine.instance.kinds = KIND_BIT_JOBS;
    if (worker->kinds_chosen || worker->transports == NULL)
        return;
    bool by_type = table->count > table->routes;
    worker->config.engine.instance.kinds = (table->count > 0 ? KIND_BIT(KIND_OUTBOX) : 0) |
                                           (by_type ? KIND_BIT(KIND_INBOX) : 0) |
                                           (worker->config.engine.instance.kinds & KIND_BIT_JOBS);
}

/* What the worker does besides its messages and jobs. */
static pawl_status list_duties(struct pawl_worker *worker, pawl_error *err) {
    struct engine_config *engine = &worker->config.engine;
    const struct duty *one[] = {worker->feed != NULL ? receptor_feed_duty(worker->feed) : NULL,
                                worker->alerts != NULL ? alert_watch_duty(worker->alerts) : NULL,
                                worker->spine != NULL ? spine_duty(worker->spine) : NULL};
    size_t ones = sizeof(one) / sizeof(*one), count = 0;
    const struct duty *read = worker->inbox != NULL ? inbox_duties(worker->inbox, &count) : NULL;
    worker->duties = calloc(count + ones, sizeof(*worker->duties));
    if (worker->duties == NULL)
        return error_no_memory(err, "worker");
    if (count > 0)
        memcpy(worker->duties, read, count * sizeof(*read));
    for (size_t i = 0; i < ones; i++) {
        if (one[i] != NULL)
            worker->duties[count++] = *one[i];
    }
    engine->duties = worker->duties;
    engine->duty_count = count;
    return PAWL_OK;
}

static pawl_status add_duties(struct pawl_worker *worker, pawl_error *err) {
    pawl_str service = worker->config.engine.instance.service;
    pawl_status status = add_feed(worker, err);
    if (status == PAWL_OK && worker->alerts != NULL)
        status = alert_watch_check(worker->alerts, err);
    if (status == PAWL_OK && worker->transports != NULL)
        status = inbox_create(worker->transports, service, &worker->config.log, &worker->inbox, err);
    if (status == PAWL_OK && worker->transports != NULL && !str_absent(worker->transports->spine.to))
        status = spine_create(worker->transports, service, &worker->spine, err);
    return status == PAWL_OK ? list_duties(worker, err) : status;
}

/* The kept programs of handlers. */
static pawl_status open_pipes(struct pawl_worker *worker, pawl_error *err) {
    const struct handler_table *table = worker->handlers;
    int slots = worker->config.engine.slots;
    char name[32];
    pawl_status status = PAWL_OK;
    snprintf(name, sizeof(name), "pipes-%d", (int)getpid());
    for (size_t i = 0; status == PAWL_OK && i < table->count; i++) {
        struct handler *handler = &table->handlers[i];
        if (!handler->kept || handler->pipe != NULL)
            continue;
        if (worker->pipes == NULL)
            status = pipes_create(name, &worker->config.log, &worker->pipes, err);
        bool limited = handler->concurrency > 0 && handler->concurrency < slots;
        struct pipe_config config = {.name = handler->name,
                                     .argv = handler->argv,
                                     .processes_max = limited ? handler->concurrency : slots,
                                     .recycle_after = handler->recycle_after,
                                     .recycle_mb = handler->recycle_mb};
        if (status == PAWL_OK)
            status = pipe_add(worker->pipes, &config, &handler->pipe, err);
    }
    return status;
}

/* Other starters of programs besides the runtime: what they have started is not an orphan. */
static void name_launchers(struct pawl_worker *worker) {
    struct runtime_config *config = &worker->config;
    struct perspectives *views = worker->perspectives;
    struct pipes *pipes[] = {worker->pipes, worker->tools != NULL ? tools_pipes(worker->tools) : NULL,
                             views != NULL ? perspectives_pipes(views) : NULL};
    struct launcher *launchers[] = {
        worker->tools != NULL ? tools_launcher(worker->tools) : NULL,
        views != NULL ? perspectives_launcher(views) : NULL,
        worker->receptors != NULL ? receptors_launcher(worker->receptors) : NULL,
        worker->alerts != NULL ? alert_watch_launcher(worker->alerts) : NULL,
    };
    config->launcher_count = 0;
    for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
        if (launchers[i] != NULL)
            config->launchers[config->launcher_count++] = launchers[i];
    }
    for (size_t i = 0; i < sizeof(pipes) / sizeof(*pipes); i++) {
        if (pipes[i] != NULL)
            config->launchers[config->launcher_count++] = pipes_launcher(pipes[i]);
    }
}

pawl_status pawl_worker_run(pawl_worker *worker, bool *forced, pawl_error *err) {
    struct runtime *runtime = NULL;
    bool was_forced = false;
    choose_kinds(worker);
    pawl_status status = receptors_create(&worker->config.store, worker->config.engine.instance.service,
                                          worker->handlers, &worker->receptors, err);
    if (status == PAWL_OK)
        status = add_duties(worker, err);
    if (status == PAWL_OK)
        status = open_pipes(worker, err);
    if (status == PAWL_OK) {
        name_launchers(worker);
        status = runtime_create(&worker->config, &runtime, err);
    }
    if (status != PAWL_OK)
        return status;
    pthread_mutex_lock(&worker->lock);
    worker->runtime = runtime;
    pthread_mutex_unlock(&worker->lock);
    for (int i = atomic_load(&worker->stops); i > 0; i--)
        runtime_stop(runtime);
    worker->observer->log = &worker->config.log;
    worker->observer->tracer = tracer_open(worker->config.engine.instance.service.ptr, &worker->config.log);
    if (status == PAWL_OK)
        status = runtime_run(runtime, &was_forced, err);
    if (worker->perspectives != NULL)
        (void)perspectives_tick(worker->perspectives, uuid_nil(), &worker->config.log);
    tracer_stop(worker->observer->tracer);
    if (forced != NULL)
        *forced = was_forced;
    return status;
}

void pawl_worker_stop(pawl_worker *worker) {
    atomic_fetch_add(&worker->stops, 1);
    /* No lock here: this may run in a signal handler. The pointer is set once and freed by pawl_worker_free
     * only. */
    struct runtime *runtime = __atomic_load_n(&worker->runtime, __ATOMIC_ACQUIRE);
    if (runtime != NULL)
        runtime_stop(runtime);
}

static double share(int64_t part, int64_t whole) { return whole > 0 ? (double)part / (double)whole : 0; }

pawl_job_summary pawl_job_metrics_summary(const pawl_job_metrics *metrics) {
    return (pawl_job_summary){.success_rate = share(metrics->succeeded, metrics->processed),
                              .error_rate = share(metrics->failed, metrics->processed),
                              .lease_efficiency = share(metrics->processed, metrics->leases_acquired),
                              .mean_ms = share(metrics->processing_ms, metrics->processed)};
}

void pawl_worker_metrics(pawl_worker *worker, pawl_metrics *metrics) {
    memset(metrics, 0, sizeof(*metrics));
    pthread_mutex_lock(&worker->lock);
    if (worker->runtime != NULL)
        runtime_metrics(worker->runtime, metrics);
    pthread_mutex_unlock(&worker->lock);
}

void pawl_worker_free(pawl_worker *worker) {
    if (worker == NULL)
        return;
    /* An abandoned thread may still use all of it, and end a span. */
    bool left_behind = worker->runtime != NULL && worker->runtime->left_behind;
    runtime_free(worker->runtime);
    if (!left_behind) {
        perspectives_free(worker->perspectives);
        receptor_feed_free(worker->feed);
        alert_watch_free(worker->alerts);
        inbox_free(worker->inbox);
        spine_free(worker->spine);
        free(worker->duties);
        receptors_free(worker->receptors);
        pipes_free(worker->pipes);
        outbox_free(worker->outbox);
        transport_settings_free(worker->transports);
        tools_free(worker->tools);
        handler_table_free(worker->handlers);
        arena_free(worker->arena);
        if (worker->observer != NULL)
            tracer_free(worker->observer->tracer);
        free(worker->observer);
        pthread_mutex_destroy(&worker->lock);
        free(worker); /* its log is what an abandoned thread writes to */
    }
}
