/* A thread with its own store handle. */
#include "engine/runtime/store_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "base/time/clock.h"

/* A fleet must not hold connections that are used once a minute. */
enum { BATCH_ARENA_BYTES_MAX = 1 << 30, KEEP_MS = 2000 };

struct call *call_new(enum call_type type) {
    struct call *call = calloc(1, sizeof(*call));
    if (call == NULL)
        return NULL;
    call->type = type;
    call->arena = arena_create(BATCH_ARENA_BYTES_MAX);
    if (call->arena == NULL) {
        free(call);
        return NULL;
    }
    return call;
}

void call_free(struct call *call) {
    if (call == NULL)
        return;
    arena_free(call->arena);
    store_waker_close(call->waker);
    free(call);
}

void call_hold(struct call **list, struct call *call) {
    call->prev = NULL;
    call->next = *list;
    if (*list != NULL)
        (*list)->prev = call;
    *list = call;
}

void call_release(struct call **list, struct call *call) {
    if (call->prev != NULL)
        call->prev->next = call->next;
    else
        *list = call->next;
    if (call->next != NULL)
        call->next->prev = call->prev;
    call_free(call);
}

static void wake(int fd) {
    uint64_t one = 1;
    ssize_t wrote = write(fd, &one, sizeof(one));
    (void)wrote; /* a full counter wakes as well */
}

/* Waits for a call, or for the time to close the handle. */
static void wait_for_call(struct store_thread *thread) {
    struct timespec until = clock_monotonic_after(KEEP_MS);
    if (!thread->of_duties || thread->store == NULL) {
        pthread_cond_wait(&thread->work, &thread->lock);
    } else if (pthread_cond_timedwait(&thread->work, &thread->lock, &until) == ETIMEDOUT) {
        pthread_mutex_unlock(&thread->lock);
        store_close(thread->store);
        thread->store = NULL;
        pthread_mutex_lock(&thread->lock);
    }
}

static struct call *next_call(struct store_thread *thread) {
    pthread_mutex_lock(&thread->lock);
    while (thread->todo_head == NULL && !thread->closing)
        wait_for_call(thread);
    struct call *call = thread->todo_head;
    if (call != NULL) {
        thread->todo_head = call->next;
        if (thread->todo_head == NULL)
            thread->todo_tail = NULL;
        call->next = NULL;
    }
    pthread_mutex_unlock(&thread->lock);
    return call;
}

static void answer(struct store_thread *thread, struct call *call) {
    pthread_mutex_lock(&thread->lock);
    if (thread->done_tail == NULL)
        thread->done_head = call;
    else
        thread->done_tail->next = call;
    thread->done_tail = call;
    pthread_mutex_unlock(&thread->lock);
    wake(thread->wake_fd);
}

static void *thread_main(void *self) {
    struct store_thread *thread = self;
    if (thread->early)
        store_call_connect(thread);
    for (struct call *call; (call = next_call(thread)) != NULL;) {
        store_call_run(thread, call);
        answer(thread, call);
    }
    store_close(thread->store);
    thread->store = NULL;
    pthread_mutex_lock(&thread->lock);
    thread->closed = true;
    pthread_mutex_unlock(&thread->lock);
    return NULL;
}

pawl_status store_thread_open(struct store_thread *thread, pawl_error *err) {
    pthread_mutex_init(&thread->lock, NULL);
    thread_cond_init(&thread->work);
    int code = thread_start(&thread->thread, thread_main, thread);
    if (code != 0)
        return error_errno(err, PAWL_NO_MEMORY, "worker", code, "no thread for the store");
    return PAWL_OK;
}

void store_thread_call(struct store_thread *thread, struct call *call) {
    pthread_mutex_lock(&thread->lock);
    if (thread->todo_tail == NULL)
        thread->todo_head = call;
    else
        thread->todo_tail->next = call;
    thread->todo_tail = call;
    thread->calls++;
    pthread_cond_signal(&thread->work);
    pthread_mutex_unlock(&thread->lock);
}

void store_thread_refuse(struct store_thread *thread, struct call *call, const pawl_error *why) {
    call->error = *why;
    call->status = why->status;
    store_call_ended(thread, call);
    pthread_mutex_lock(&thread->lock);
    thread->calls++;
    pthread_mutex_unlock(&thread->lock);
    answer(thread, call);
}

struct call *store_thread_take(struct store_thread *thread) {
    pthread_mutex_lock(&thread->lock);
    struct call *done = thread->done_head;
    thread->done_head = NULL;
    thread->done_tail = NULL;
    for (const struct call *call = done; call != NULL; call = call->next)
        thread->calls--;
    pthread_mutex_unlock(&thread->lock);
    return done;
}

static void free_calls(struct call *call) {
    while (call != NULL) {
        struct call *next = call->next;
        call_free(call);
        call = next;
    }
}

void store_thread_end(struct store_thread *thread) {
    pthread_mutex_lock(&thread->lock);
    thread->closing = true;
    if (!thread->of_duties) {
        free_calls(thread->todo_head);
        thread->todo_head = NULL;
        thread->todo_tail = NULL;
    }
    pthread_cond_signal(&thread->work);
    pthread_mutex_unlock(&thread->lock);
}

bool store_thread_close(struct store_thread *thread, int64_t wait_ms) {
    int64_t until_ms = clock_boot_ms() + wait_ms;
    store_thread_end(thread);
    pthread_mutex_lock(&thread->lock);
    while (!thread->closed && clock_boot_ms() < until_ms) {
        pthread_mutex_unlock(&thread->lock);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        pthread_mutex_lock(&thread->lock);
    }
    bool closed = thread->closed;
    pthread_mutex_unlock(&thread->lock);
    if (!closed) {
        pthread_detach(thread->thread);
        return false;
    }
    pthread_join(thread->thread, NULL);
    free_calls(thread->done_head);
    pthread_mutex_destroy(&thread->lock);
    pthread_cond_destroy(&thread->work);
    return true;
}
