/* The threads on which duties have their turns. A turn gets a thread that has nothing to do, or a new one, so
 * that no duty ever waits for another: subscriptions wait for their broker half a second at a time, a target
 * of an alert may take half a minute. There are as many threads as turns at the same moment, which is one for
 * each subscription that is read and mostly one for everything else. Schedules use the thread of the jobs,
 * which have nothing to claim before they are fired, and so do brief turns: a connection of their own, opened
 * once a minute, would cost the server as much as they do. */
#include <stdlib.h>

#include "base/error.h"
#include "base/time/clock.h"
#include "engine/runtime/runtime.h"

pawl_status runtime_duties_open(struct runtime *runtime, pawl_error *err) {
    struct runtime_duties *duties = &runtime->duties;
    size_t count = runtime->config.engine.duty_count;
    duties->works = calloc(count + 1, sizeof(*duties->works));
    duties->last = calloc(count + 1, sizeof(*duties->last));
    duties->threads = calloc(DUTY_OTHERS + count, sizeof(*duties->threads));
    if (duties->works == NULL || duties->last == NULL || duties->threads == NULL)
        return error_no_memory(err, "worker");
    for (size_t i = 0; i < count; i++)
        duties->works[i] =
            (struct duty_work){.duty = &runtime->config.engine.duties[i], .stop = &duties->stop};
    return PAWL_OK;
}

/* There is room for one per duty, and no duty has two turns. */
static pawl_status new_thread(struct runtime *runtime, struct store_thread **out, pawl_error *err) {
    struct runtime_duties *duties = &runtime->duties;
    struct store_thread *thread = calloc(1, sizeof(*thread));
    if (thread == NULL)
        return error_no_memory(err, "worker");
    runtime_thread_init(runtime, thread);
    thread->config.allow_version_mismatch = true; /* the other threads have looked */
    thread->of_duties = true;
    pawl_status status = store_thread_open(thread, err);
    if (status != PAWL_OK) {
        free(thread);
        return status;
    }
    *out = duties->threads[duties->thread_count++] = thread;
    return PAWL_OK;
}

/* One that has nothing to do, or a new one. If the system has no more threads, a turn waits for another. */
static pawl_status find_thread(struct runtime *runtime, struct store_thread **out, pawl_error *err) {
    struct runtime_duties *duties = &runtime->duties;
    struct store_thread *least = NULL;
    for (size_t i = 0; i < duties->thread_count; i++) {
        if (least == NULL || duties->threads[i]->calls < least->calls)
            least = duties->threads[i];
    }
    if (least == NULL)
        return new_thread(runtime, out, err);
    if (least->calls == 0 || new_thread(runtime, out, err) != PAWL_OK)
        *out = least;
    return PAWL_OK;
}

void runtime_duty(struct runtime *runtime, struct call *call) {
    struct runtime_duties *duties = &runtime->duties;
    size_t at = call->order.duty - DUTY_OTHERS;
    pawl_error error = {0};
    if (call->order.duty == DUTY_SCHEDULES) {
        call->type = CALL_SCHEDULES;
        store_thread_call(runtime->threads[THREAD_JOBS], call);
        return;
    }
    struct store_thread *before = NULL;
    if (call->order.duty != DUTY_HOUSEKEEPING) {
        call->work = &duties->works[at];
        before = duties->last[at];
    }
    if (call->work != NULL && call->work->duty->rule.brief && !call->work->lengthy &&
        runtime_serves_jobs(runtime)) {
        store_thread_call(runtime->threads[THREAD_JOBS], call);
        return;
    }
    /* What is left is left after the turn that is running. */
    bool after = call->order.leave && before != NULL && before->calls > 0;
    struct store_thread *thread = before;
    if (!after && find_thread(runtime, &thread, &error) != PAWL_OK) {
        store_thread_refuse(runtime->threads[THREAD_CONTROL], call, &error);
        return;
    }
    if (call->work != NULL)
        duties->last[at] = thread;
    store_thread_call(thread, call);
}

void runtime_duties_answered(struct runtime *runtime) {
    for (size_t i = 0; i < runtime->duties.thread_count; i++)
        runtime_take_answers(runtime, runtime->duties.threads[i]);
}

bool runtime_duties_close(struct runtime *runtime, int64_t wait_ms) {
    struct runtime_duties *duties = &runtime->duties;
    bool closed = true;
    int64_t until_ms = clock_boot_ms() + wait_ms;
    stop_set(&duties->stop, STOP_LEAVING);
    for (size_t i = 0; i < duties->thread_count; i++)
        store_thread_end(duties->threads[i]);
    for (size_t i = 0; i < duties->thread_count; i++) {
        bool came = store_thread_close(duties->threads[i], until_ms - clock_boot_ms());
        if (came)
            free(duties->threads[i]);
        closed = closed && came;
    }
    duties->thread_count = 0;
    return closed;
}

void runtime_duties_free(struct runtime *runtime) {
    free(runtime->duties.works);
    free(runtime->duties.last);
    free(runtime->duties.threads);
}
