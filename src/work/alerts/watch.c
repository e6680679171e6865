/* The thread that evaluates alert rules. Every process asks once per interval, and the store gives the turn
 * to one of them. The connection is closed after each evaluation, so that a fleet does not hold many idle
 * ones. */
#include "work/alerts/watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "domain/alert.h"
#include "work/alerts/round.h"
#include "work/alerts/send.h"

enum { STORE_WAIT_MS_MAX = 5000 };

struct alert_watch {
    struct alert_watch_config config;
    struct alert_sender sender;
    pthread_t thread;
    bool started;
    stop_flag stop;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    uint64_t random;
    bool failing; /* the last evaluation failed: logged once */
    int64_t wait_ms;
};

static int at_most(int value, int most) { return value > 0 && value < most ? value : most; }

/* The names of targets are patterns of handlers, but mean only themselves. */
static pawl_status read_targets(struct alert_watch *watch, const char *path, pawl_error *err) {
    pawl_status status = handler_table_add_file(watch->sender.targets, path, err);
    for (size_t i = 0; status == PAWL_OK && i < watch->sender.targets->count; i++) {
        pawl_str name = watch->sender.targets->handlers[i].pattern;
        status = alert_name_check(name, "a target", err);
        if (status == PAWL_OK && (str_equal(name, STR("log")) || str_equal(name, STR("message"))))
            status =
                error_set(err, PAWL_INVALID, "alerts", "the target '%.*s' is there already", STR_ARG(name));
    }
    return status == PAWL_OK
               ? launcher_create("alerts", LAUNCHER_OWN_THREAD, &watch->sender.world.launcher, err)
               : status;
}

pawl_status alert_watch_create(const struct alert_watch_config *config, struct alert_watch **watch,
                               pawl_error *err) {
    int64_t interval_ms = config->interval_ms != 0 ? config->interval_ms : PAWL_ALERT_INTERVAL_MS_DEFAULT;
    pawl_status status = check_alert_interval(interval_ms, err);
    if (status != PAWL_OK)
        return status;
    struct alert_watch *made = calloc(1, sizeof *made);
    if (made == NULL)
        return error_set(err, PAWL_NO_MEMORY, "alerts", "out of memory");
    made->config = *config;
    made->config.interval_ms = interval_ms;
    /* Stopping must not wait for a database that does not answer. */
    made->config.store.connect_timeout_ms = at_most(config->store.connect_timeout_ms, STORE_WAIT_MS_MAX);
    made->config.store.statement_timeout_ms = at_most(config->store.statement_timeout_ms, STORE_WAIT_MS_MAX);
    made->sender.world.source = "/pawl/alerts";
    made->sender.log = config->log;
    made->sender.stop = &made->stop;
    made->random = (uint64_t)clock_boot_us() * 2654435761u;
    thread_cond_init(&made->wake);
    pthread_mutex_init(&made->lock, NULL);
    pthread_mutex_init(&made->sender.world.lock, NULL);
    status = handler_table_create(&made->sender.targets, err);
    if (status == PAWL_OK && config->targets != NULL)
        status = read_targets(made, config->targets, err);
    if (status != PAWL_OK) {
        alert_watch_free(made);
        return status;
    }
    *watch = made;
    return PAWL_OK;
}

void alert_watch_free(struct alert_watch *watch) {
    if (watch == NULL)
        return;
    if (watch->started) {
        pthread_mutex_lock(&watch->lock);
        stop_set(&watch->stop, STOP_LEAVING);
        pthread_cond_signal(&watch->wake);
        pthread_mutex_unlock(&watch->lock);
        pthread_join(watch->thread, NULL);
    }
    for (size_t i = 0; i < watch->sender.world.client_count; i++)
        http_client_free(watch->sender.world.clients[i]);
    launcher_free(watch->sender.world.launcher);
    handler_table_free(watch->sender.targets);
    pthread_mutex_destroy(&watch->sender.world.lock);
    pthread_mutex_destroy(&watch->lock);
    pthread_cond_destroy(&watch->wake);
    free(watch);
}

struct launcher *alert_watch_launcher(struct alert_watch *watch) {
    return watch->sender.world.launcher;
}

/* One evaluation in the caller's thread, if it is our turn, and the due deliveries. */
static pawl_status alert_watch_look(struct alert_watch *watch, struct store *store, pawl_error *err) {
    struct alert_round round = {.next_in_ms = watch->config.interval_ms};
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_set(err, PAWL_NO_MEMORY, "alerts", "out of memory");
    pawl_status status = alert_round(store, watch->config.interval_ms, arena, &round, err);
    if (status == PAWL_OK)
        status = alert_send_due(&watch->sender, store, arena, err);
    watch->wait_ms = round.next_in_ms;
    arena_free(arena);
    return status;
}

static void look(struct alert_watch *watch) {
    struct store *store = NULL;
    pawl_error err = {0};
    pawl_status status = store_open(&watch->config.store, &store, &err);
    if (status == PAWL_OK)
        status = alert_watch_look(watch, store, &err);
    store_close(store);
    if (status != PAWL_OK && !watch->failing)
        log_failure(&watch->config.log, LOG_LEVEL_WARN, "alerts_not_evaluated", &err);
    watch->failing = status != PAWL_OK;
}

/* A little after the next turn, by a different amount in each process, so that turns alternate and not every
 * process asks at once. */
static int64_t pause_ms(struct alert_watch *watch) {
    int64_t interval_ms = watch->config.interval_ms;
    watch->random = watch->random * 6364136223846793005u + 1442695040888963407u;
    int64_t extra_ms = (int64_t)((watch->random >> 33) % (uint64_t)(interval_ms / 4 + 1));
    int64_t wait_ms = watch->wait_ms < 0 || watch->wait_ms > interval_ms ? interval_ms : watch->wait_ms;
    return wait_ms + extra_ms;
}

static void *main_loop(void *self) {
    struct alert_watch *watch = self;
    pthread_mutex_lock(&watch->lock);
    while (!atomic_load(&watch->stop)) {
        struct timespec until = clock_monotonic_after(pause_ms(watch));
        int waited = 0;
        while (!atomic_load(&watch->stop) && waited == 0)
            waited = pthread_cond_timedwait(&watch->wake, &watch->lock, &until);
        if (atomic_load(&watch->stop))
            break;
        pthread_mutex_unlock(&watch->lock);
        look(watch);
        pthread_mutex_lock(&watch->lock);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

/* The first target of a rule that is missing in this process's file. */
struct unknown {
    const struct handler_table *targets;
    pawl_str name;
};

static bool is_known(void *self, pawl_str name) {
    struct unknown *unknown = self;
    bool known = str_equal(name, STR("log")) || str_equal(name, STR("message"));
    for (size_t i = 0; i < unknown->targets->count && !known; i++)
        known = str_equal(unknown->targets->handlers[i].pattern, name);
    if (!known)
        unknown->name = name;
    return known;
}

/* If the targets file lacks a target that a rule names, its notifications would never be delivered: fail at
 * startup instead. */
static pawl_status check_targets(const struct alert_watch *watch, struct store *store, struct arena *arena,
                                 pawl_error *err) {
    struct alert_rows rows = {.count = 0};
    pawl_status status = store->ops->alerts->rules(store, (pawl_str){NULL, 0}, arena, &rows, err);
    for (size_t i = 0; status == PAWL_OK && i < rows.count; i++) {
        const struct alert_rule *rule = &rows.rows[i].rule;
        struct unknown unknown = {.targets = watch->sender.targets};
        alert_targets(rule->targets, is_known, &unknown);
        if (!rule->enabled || str_absent(unknown.name))
            continue;
        return error_set(err, PAWL_INVALID, "alerts",
                         "the rule '%.*s' tells '%.*s', which the file of targets does not have: add a "
                         "section [%.*s], or change the rule with pawl alerts set %.*s --targets",
                         STR_ARG(rule->name), STR_ARG(unknown.name), STR_ARG(unknown.name),
                         STR_ARG(rule->name));
    }
    return status;
}

/* If the database does not answer now, try later. */
static pawl_status check_rules(struct alert_watch *watch, pawl_error *err) {
    struct store *store = NULL;
    struct arena *arena = arena_create(0);
    pawl_error later;
    pawl_status status = arena != NULL ? store_open(&watch->config.store, &store, &later) : PAWL_NO_MEMORY;
    if (status == PAWL_OK)
        status = check_targets(watch, store, arena, err);
    store_close(store);
    arena_free(arena);
    return status == PAWL_INVALID ? status : PAWL_OK;
}

pawl_status alert_watch_start(struct alert_watch *watch, pawl_error *err) {
    bool has_file = watch->sender.world.launcher != NULL;
    pawl_status status = has_file ? check_rules(watch, err) : PAWL_OK;
    if (status != PAWL_OK)
        return status;
    watch->wait_ms = watch->config.interval_ms;
    if (thread_start(&watch->thread, main_loop, watch) != 0)
        return error_set(err, PAWL_UNAVAILABLE, "alerts", "cannot start the thread that watches");
    watch->started = true;
    return PAWL_OK;
}
