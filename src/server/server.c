/* The HTTP server: opening it, its loop, closing it. */
#include "server/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "process/notify.h"
#include "server/access/sessions.h"
#include "server/alerts.h"
#include "server/bulk.h"
#include "server/checkup.h"
#include "server/claim_waits.h"
#include "server/http/exchange.h"
#include "server/http/idempotency.h"
#include "server/http/stream.h"
#include "server/lease_watch.h"
#include "server/sampler.h"
#include "server/stats.h"

enum { TICK_MS = 500 };

static pawl_status no_memory(pawl_error *err) {
    return error_set(err, PAWL_NO_MEMORY, "server", "no memory for the server");
}

/* Roles are named after the schema; NULL if memory runs out. */
static const char *database_role(struct server *server, const char *duty) {
    const char *schema = server->config.store.schema;
    return arena_printf(server->arena, "%s_%s", schema != NULL ? schema : "pawl", duty);
}

/* The database must answer now: a server that cannot read anything is of no use. */
static pawl_status database_try(struct server *server, pawl_error *err) {
    struct store *store = NULL;
    pawl_status status = store_open(&server->config.store, &store, err);
    if (status == PAWL_OK && strcmp(store->dialect, "postgres") == 0)
        log_event(&server->config.log, store->caps.role ? LOG_LEVEL_INFO : LOG_LEVEL_WARN, "database_role",
                  "role=%s", store->caps.role ? server->config.store.role : "the login's own");
    store_close(store);
    return status;
}

static pawl_status check_config(const struct server_config *config, pawl_error *err) {
    if ((config->tls_cert == NULL) != (config->tls_key == NULL))
        return error_set(err, PAWL_INVALID, "server", "--tls-cert and --tls-key belong together: give both");
    return PAWL_OK;
}

static pawl_status open_parts(struct server *server, pawl_error *err) {
    struct store_config worker = server->config.store;
    worker.role = database_role(server, "lease");
    sigset_t stop = thread_stop_signals();
    server->keys = keys_new();
    server->sampler = sampler_new(server);
    server->streams = streams_new(server);
    server->bulks = bulks_new(server);
    server->checkup = checkup_new(server);
    server->stats = calloc(1, sizeof *server->stats);
    server->leases = server->config.lease_api ? lease_watch_new(server) : NULL;
    if (worker.role == NULL || server->keys == NULL || server->sampler == NULL || server->streams == NULL ||
        server->stats == NULL || server->bulks == NULL || server->checkup == NULL ||
        (server->config.lease_api && server->leases == NULL))
        return no_memory(err);
    stats_init(server->stats);
    pthread_sigmask(SIG_BLOCK, &stop, NULL); /* before the threads, which inherit it */
    server->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    server->signal_fd = signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK);
    if (server->event_fd < 0 || server->signal_fd < 0)
        return error_errno(err, PAWL_UNAVAILABLE, "server", errno, "cannot make the loop's descriptors");
    pawl_status status = store_pool_open(&server->query_pool, &server->config.store, PAWL_HTTP_STORE_THREADS,
                                         &server->config.log, err);
    if (status == PAWL_OK)
        status = store_pool_open(&server->bulk_pool, &server->config.store, 1, &server->config.log, err);
    if (status == PAWL_OK)
        status = store_pool_open(&server->doctor_pool, &server->config.store, 1, &server->config.log, err);
    if (status == PAWL_OK)
        status = claim_waits_open(server, &server->claim_waits, err);
    if (status == PAWL_OK && server->config.lease_api)
        status =
            store_pool_open(&server->lease_pool, &worker, PAWL_HTTP_LEASE_THREADS, &server->config.log, err);
    return status;
}

pawl_status server_open(struct server *server, const struct server_config *config, pawl_error *err) {
    *server = (struct server){.config = *config, .listen_fd = -1, .event_fd = -1, .signal_fd = -1};
    server->arena = arena_create(0);
    server->sessions = server->arena != NULL ? arena_alloc(server->arena, sizeof *server->sessions) : NULL;
    if (server->sessions == NULL)
        return no_memory(err);
    pthread_mutex_init(&server->lock, NULL);
    server->started_ms = clock_boot_ms();
    server->tls = config->tls_cert != NULL;
    server->config.store.role = database_role(server, "server");
    server->config.store.small_cache = true; /* every pool has a store */
    server->token_file = config->token_file;
    pawl_status status = server->config.store.role != NULL ? check_config(config, err) : no_memory(err);
    if (status == PAWL_OK)
        status = redact_parse(config->redact, &server->redact, err);
    if (status == PAWL_OK)
        status = server_listen(server, err);
    if (status == PAWL_OK)
        status = database_try(server, err);
    if (status == PAWL_OK && server->token_file == NULL)
        status = tokens_default_path(server->arena, &server->token_file, err);
    if (status == PAWL_OK)
        status = tokens_load(server->token_file, &server->tokens, &server->tokens_made, err);
    if (status == PAWL_OK)
        status = open_parts(server, err);
    if (status == PAWL_OK && config->alert_interval_ms > 0)
        status = server_alerts_open(server, &server->alerts, err);
    if (status == PAWL_OK)
        server->tracer = tracer_open("pawl-server", &server->config.log);
    if (status == PAWL_OK)
        status = http_start(server, err);
    return status;
}

void server_hand_back(struct server *server, struct pool_task *pool_task) {
    uint64_t one = 1;
    pthread_mutex_lock(&server->lock);
    pool_task->next = server->done;
    server->done = pool_task;
    pthread_mutex_unlock(&server->lock);
    ssize_t written = write(server->event_fd, &one, sizeof one);
    (void)written; /* if it is full, the loop wakes up anyway */
}

static void take_done(struct server *server) {
    uint64_t count;
    ssize_t got = read(server->event_fd, &count, sizeof count);
    (void)got;
    pthread_mutex_lock(&server->lock);
    struct pool_task *pool_task = server->done;
    server->done = NULL;
    pthread_mutex_unlock(&server->lock);
    while (pool_task != NULL) {
        struct pool_task *next = pool_task->next;
        pool_task->next = NULL;
        pool_task->done(pool_task);
        pool_task = next;
    }
}

static int wait_ms(struct server *server, int64_t most_ms) {
    MHD_UNSIGNED_LONG_LONG wanted = TICK_MS;
    if (MHD_get_timeout(server->daemon, &wanted) != MHD_YES || wanted > TICK_MS)
        wanted = TICK_MS;
    return most_ms < (int64_t)wanted ? (int)most_ms : (int)wanted;
}

pawl_status server_run(struct server *server, pawl_error *err) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (info == NULL)
        return error_set(err, PAWL_INTERNAL, "server", "libmicrohttpd has no epoll descriptor");
    struct pollfd fds[] = {{.fd = info->epoll_fd, .events = POLLIN},
                           {.fd = server->event_fd, .events = POLLIN},
                           {.fd = server->signal_fd, .events = POLLIN},
                           {.fd = -1, .events = POLLIN},
                           {.fd = -1, .events = POLLIN}};
    int64_t ticked_ms = 0;
    struct notify notify = notify_from_environment();
    while (!server->stopping) {
        int64_t most_ms = claim_waits_turn(server->claim_waits);
        struct claim_wait_fds waits = claim_waits_fds(server->claim_waits);
        fds[3].fd = waits.wake;
        fds[4].fd = waits.gone;
        int ready = poll(fds, sizeof fds / sizeof *fds, wait_ms(server, most_ms));
        if (ready < 0 && errno != EINTR)
            return error_errno(err, PAWL_INTERNAL, "server", errno, "cannot wait for requests");
        if (fds[1].revents != 0)
            take_done(server);
        server->stopping = fds[2].revents != 0;
        MHD_run(server->daemon);
        int64_t now_ms = clock_boot_ms();
        if (now_ms - ticked_ms >= TICK_MS) {
            ticked_ms = now_ms;
            http_tick(server, now_ms);
            streams_tick(server->streams, now_ms);
            sampler_tick(server->sampler, now_ms);
            lease_watch_tick(server->leases, now_ms);
            server_alerts_tick(server->alerts, now_ms);
            notify_alive(&notify, now_ms);
        }
    }
    notify_stopping(&notify);
    return PAWL_OK;
}

/* Connections that are waiting for a response or receiving one. */
static bool busy(const struct server *server) {
    for (const struct link *link = server->links->first; link != NULL; link = link->next)
        if (link->state != LINK_READING)
            return true;
    return false;
}

/* Lets running requests finish, and answers every connection. */
static void wind_up(struct server *server) {
    bulks_stop(server->bulks);
    claim_waits_end(server->claim_waits);
    lease_watch_end(server->leases);
    store_pool_close(&server->query_pool);
    store_pool_close(&server->lease_pool);
    store_pool_close(&server->bulk_pool);
    store_pool_close(&server->doctor_pool);
    take_done(server);
    streams_end(server->streams);
    int64_t until_ms = clock_boot_ms() + PAWL_HTTP_STOP_MS;
    while (busy(server) && clock_boot_ms() < until_ms) {
        struct pollfd none = {.fd = -1};
        MHD_run(server->daemon);
        poll(&none, 0, 10);
    }
}

void server_close(struct server *server) {
    server_alerts_close(server->alerts);
    if (server->daemon != NULL) {
        MHD_socket listening = MHD_quiesce_daemon(server->daemon);
        if (listening >= 0)
            close(listening);
        wind_up(server);
    } else {
        store_pool_close(&server->query_pool);
        store_pool_close(&server->lease_pool);
        store_pool_close(&server->bulk_pool);
        store_pool_close(&server->doctor_pool);
    }
    http_stop(server);
    streams_free(server->streams);
    sampler_free(server->sampler);
    keys_free(server->keys);
    bulks_free(server->bulks);
    checkup_free(server->checkup);
    claim_waits_free(server->claim_waits);
    lease_watch_free(server->leases);
    tracer_free(server->tracer);
    free(server->stats);
    if (server->listen_fd >= 0)
        close(server->listen_fd);
    if (server->event_fd >= 0)
        close(server->event_fd);
    if (server->signal_fd >= 0)
        close(server->signal_fd);
    arena_free(server->arena);
}
