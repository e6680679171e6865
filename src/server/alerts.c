/* The only duty of a server: its turns are given by the loop and had by a thread of its own, because a target
 * may take half a minute. */
#include "server/alerts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "engine/runtime/store_thread.h"
#include "work/alerts/watch.h"

/* Stopping must not wait for a database that does not answer. */
enum { LEAVE_MS = 5000, STORE_WAIT_MS_MAX = 5000 };

/* A thread that is left behind when the server ends goes on using this, so it shares nothing with the server.
 */
struct server_alerts {
    struct log log;
    struct alert_watch *watch;
    struct duties duties; /* one */
    struct duty_work work;
    struct store_thread thread;
    bool started;
    stop_flag stop;
};

static int at_most(int value, int most) { return value > 0 && value < most ? value : most; }

static pawl_status start_thread(struct server_alerts *alerts, const struct server *server, pawl_error *err) {
    struct store_config store = server->config.store;
    store.connect_timeout_ms = at_most(store.connect_timeout_ms, STORE_WAIT_MS_MAX);
    store.statement_timeout_ms = at_most(store.statement_timeout_ms, STORE_WAIT_MS_MAX);
    int wake_fd = fcntl(server->event_fd, F_DUPFD_CLOEXEC, 0);
    if (wake_fd < 0)
        return error_errno(err, PAWL_NO_MEMORY, "alerts", errno, "no descriptor for the alerts");
    alerts->log = server->config.log;
    alerts->thread =
        (struct store_thread){.wake_fd = wake_fd, .config = store, .log = &alerts->log, .of_duties = true};
    pawl_status status = store_thread_open(&alerts->thread, err);
    alerts->started = status == PAWL_OK;
    if (!alerts->started)
        close(wake_fd);
    return status;
}

pawl_status server_alerts_open(struct server *server, struct server_alerts **out, pawl_error *err) {
    const struct alert_watch_config config = {.store = server->config.store,
                                              .interval_ms = server->config.alert_interval_ms,
                                              .targets = server->config.alert_targets,
                                              .log = server->config.log};
    struct server_alerts *alerts = calloc(1, sizeof *alerts);
    if (alerts == NULL)
        return error_set(err, PAWL_NO_MEMORY, "alerts", "out of memory");
    pawl_status status = random_bytes(&alerts->duties.random, sizeof alerts->duties.random, err);
    if (status == PAWL_OK)
        status = alert_watch_create(&config, &alerts->watch, err);
    if (status == PAWL_OK)
        status = alert_watch_check(alerts->watch, err);
    if (status == PAWL_OK) {
        alerts->work = (struct duty_work){.duty = alert_watch_duty(alerts->watch), .stop = &alerts->stop};
        if (!duties_add(&alerts->duties, &alerts->work.duty->rule, clock_boot_ms()))
            status = error_set(err, PAWL_NO_MEMORY, "alerts", "out of memory");
    }
    if (status == PAWL_OK)
        status = start_thread(alerts, server, err);
    if (status != PAWL_OK) {
        server_alerts_close(alerts);
        return status;
    }
    *out = alerts;
    return PAWL_OK;
}

static void take_answer(struct server_alerts *alerts, int64_t now_ms) {
    struct call *call = store_thread_take(&alerts->thread);
    if (call == NULL)
        return;
    struct duty_end end = {.failed = call->status != PAWL_OK, .next_ms = call->next_ms};
    duties_ended(&alerts->duties, 0, &end, now_ms);
    call_free(call);
}

void server_alerts_tick(struct server_alerts *alerts, int64_t now_ms) {
    struct duty_order order;
    if (alerts == NULL)
        return;
    take_answer(alerts, now_ms);
    if (!duties_next(&alerts->duties, uuid_nil(), now_ms, &order))
        return;
    struct call *call = call_new(CALL_DUTY);
    if (call == NULL) {
        duties_ended(&alerts->duties, 0, &(struct duty_end){.failed = true}, now_ms);
        return;
    }
    call->work = &alerts->work;
    call->order = order;
    store_thread_call(&alerts->thread, call);
}

/* If a target does not end in time, the thread keeps what it uses. */
void server_alerts_close(struct server_alerts *alerts) {
    if (alerts == NULL)
        return;
    stop_set(&alerts->stop, STOP_LEAVING);
    if (alerts->started && !store_thread_close(&alerts->thread, LEAVE_MS))
        return;
    if (alerts->started)
        close(alerts->thread.wake_fd);
    duties_free(&alerts->duties);
    alert_watch_free(alerts->watch);
    free(alerts);
}
