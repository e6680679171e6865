/* The threads on which duties have their turns. A turn gets a thread that has nothing to do, or a new one, so
 * that no duty ever waits for another: subscriptions wait for their broker half a second at a time, a target
 * of an alert may take half a minute. There are as many threads as turns at the same moment, which is one for
 * each subscription that is read and mostly one for everything else. Schedules use the thread of the jobs,
 * which have nothing to claim before they are fired. */
#include <stdlib.h>

#include "base/error.h"
#include "engine/runtime/runtime.h"

pawl_status runtime_duties_open(struct runtime *runtime, pawl_error *err) {
    struct runtime_duties *duties = &runtime->duties;
    size_t count = runtime->config.engine.duty_count;
    duties->works = calloc(count + 1, sizeof(*duties->works));
    duties->last = calloc(count + 1, sizeof(*duties->last));
    duties->threads = calloc(DUTY_OTHERS + count, sizeof(*duties->threads));
    if (duties->works == NULL || duties->last == NULL || duties->threads == NULL)
        return error_set(err, PAWL_NO_MEMORY, "worker", "out of memory");
    for (size_t i = 0; i < count; i++)
        duties->works[i] =
            (struct duty_work){.duty = &runtime->config.engine.duties[i], .stop = &duties->stop};
    return PAWL_OK;
}

/* NULL: none can be started. There is room for one per duty, and no duty has two turns. */
static struct store_thread *free_thread(struct runtime *runtime) {
    struct runtime_duties *duties = &runtime->duties;
    pawl_error ignored;
    for (size_t i = 0; i < duties->thread_count; i++) {
        if (duties->threads[i]->calls == 0)
            return duties->threads[i];
    }
    struct store_thread *thread = calloc(1, sizeof(*thread));
    if (thread == NULL)
        return NULL;
    runtime_thread_init(runtime, thread);
    thread->of_duties = true;
    if (store_thread_open(thread, &ignored) != PAWL_OK) {
        free(thread);
        return NULL;
    }
    duties->threads[duties->thread_count++] = thread;
    return thread;
}

bool runtime_duty(struct runtime *runtime, struct call *call) {
    struct runtime_duties *duties = &runtime->duties;
    if (call->order.duty == DUTY_SCHEDULES) {
        call->type = CALL_SCHEDULES;
        store_thread_call(runtime->threads[THREAD_JOBS], call);
        return true;
    }
    struct store_thread *before = NULL;
    if (call->order.duty != DUTY_HOUSEKEEPING) {
        call->work = &duties->works[call->order.duty - DUTY_OTHERS];
        before = duties->last[call->order.duty - DUTY_OTHERS];
    }
    /* What is left is left after the turn that is running. */
    bool after = call->order.leave && before != NULL && before->calls > 0;
    struct store_thread *thread = after ? before : free_thread(runtime);
    if (thread == NULL)
        return false;
    if (call->order.duty != DUTY_HOUSEKEEPING)
        duties->last[call->order.duty - DUTY_OTHERS] = thread;
    store_thread_call(thread, call);
    return true;
}

void runtime_duties_answered(struct runtime *runtime) {
    for (size_t i = 0; i < runtime->duties.thread_count; i++)
        runtime_take_answers(runtime, runtime->duties.threads[i]);
}

bool runtime_duties_close(struct runtime *runtime, int64_t wait_ms) {
    struct runtime_duties *duties = &runtime->duties;
    bool closed = true;
    stop_set(&duties->stop, STOP_LEAVING);
    for (size_t i = 0; i < duties->thread_count; i++) {
        bool came = store_thread_close(duties->threads[i], wait_ms);
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
