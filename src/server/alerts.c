/* The only duty of a server: its turns are given by the loop and had by a thread of its own, because a target
 * may take half a minute. */
#include "server/alerts.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "engine/runtime/store_thread.h"
#include "work/alerts/watch.h"

enum { LEAVE_MS = 5000 };

struct server_alerts {
    struct alert_watch *watch;
    struct duties duties; /* one */
    struct duty_work work;
    struct store_thread thread;
    bool started;
    stop_flag stop;
};

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
    if (status == PAWL_OK) {
        alerts->thread = (struct store_thread){.wake_fd = server->event_fd,
                                               .config = server->config.store,
                                               .log = &server->config.log,
                                               .of_duties = true};
        status = store_thread_open(&alerts->thread, err);
        alerts->started = status == PAWL_OK;
    }
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
    duties_free(&alerts->duties);
    alert_watch_free(alerts->watch);
    free(alerts);
}
