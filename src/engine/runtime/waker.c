/* Being woken by the store: opened when there is a store, tested before it is trusted, replaced when it
 * breaks. */
#include <sys/epoll.h>

#include "base/time/clock.h"
#include "engine/runtime/runtime.h"

enum { TEST_MS = 2000, RETRY_MS = 5000, GIVE_UP_MS = 60000 };

static void tell_core(struct runtime *runtime, bool wakes) {
    runtime_step(runtime, (struct engine_event){.type = EVENT_WAKER, .wakes = wakes});
}

void runtime_waker_close(struct runtime *runtime, int64_t retry_ms) {
    bool worked = runtime->waker_state == WAKER_WORKS;
    if (runtime->waker != NULL)
        epoll_ctl(runtime->epoll_fd, EPOLL_CTL_DEL, runtime->waker->fd, NULL);
    store_waker_close(runtime->waker);
    runtime->waker = NULL;
    runtime->waker_state = WAKER_CLOSED;
    runtime->waker_due_ms = clock_boot_ms() + retry_ms;
    if (worked)
        tell_core(runtime, false);
}

void runtime_waker_opened(struct runtime *runtime, struct call *call) {
    if (call->status != PAWL_OK) {
        runtime->waker_state = WAKER_CLOSED;
        runtime->waker_due_ms = clock_boot_ms() + (call->status == PAWL_CONFLICT ? GIVE_UP_MS : RETRY_MS);
        log_failure(&runtime->config.log, LOG_LEVEL_DEBUG, "no_wake_up", &call->error);
        return;
    }
    runtime->waker = call->waker;
    call->waker = NULL;
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)FD_WAKER << 32};
    if (epoll_ctl(runtime->epoll_fd, EPOLL_CTL_ADD, runtime->waker->fd, &event) != 0) {
        runtime_waker_close(runtime, RETRY_MS);
        return;
    }
    /* Poolers swallow notifications without a word: only one that arrives proves the way. */
    runtime->waker_state = WAKER_TESTING;
    runtime->waker_due_ms = clock_boot_ms() + TEST_MS;
    runtime_ask_control(runtime, CALL_WAKE);
}

void runtime_waker_readable(struct runtime *runtime) {
    bool woken = false;
    pawl_error error;
    if (runtime->waker == NULL)
        return;
    if (runtime->waker->drain(runtime->waker, &woken, &error) != PAWL_OK) {
        log_failure(&runtime->config.log, LOG_LEVEL_INFO, "wake_up_lost", &error);
        runtime_waker_close(runtime, RETRY_MS);
        return;
    }
    if (!woken)
        return;
    if (runtime->waker_state == WAKER_TESTING) {
        runtime->waker_state = WAKER_WORKS;
        runtime->waker_due_ms = INT64_MAX;
        log_event(&runtime->config.log, LOG_LEVEL_DEBUG, "wake_up_works", "store=%s", "tested");
        tell_core(runtime, true);
    }
    struct lane_name place = runtime->waker->place;
    runtime_step(runtime,
                 (struct engine_event){.type = EVENT_WAKE, .news = runtime->waker->news, .place = place});
}

void runtime_waker_tick(struct runtime *runtime, int64_t now_ms) {
    if (now_ms < runtime->waker_due_ms || runtime->exiting)
        return;
    runtime->waker_due_ms = INT64_MAX;
    if (runtime->waker_state == WAKER_TESTING) {
        log_event(&runtime->config.log, LOG_LEVEL_WARN, "no_wake_up", "reason=%s",
                  "a notification sent to ourselves did not arrive; the worker polls");
        runtime_waker_close(runtime, GIVE_UP_MS);
    } else if (runtime->waker_state == WAKER_CLOSED) {
        runtime->waker_state = WAKER_OPENING;
        runtime_ask_control(runtime, CALL_WAKER_OPEN);
    }
}
