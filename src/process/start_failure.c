/* Remembering programs that cannot be started, and when to try them again. */
#include "process/start_failure.h"

#include <stdio.h>
#include <string.h>

#include "base/time/clock.h"

void start_failures_init(struct start_failures *failures) {
    memset(failures, 0, sizeof(*failures));
    pthread_mutex_init(&failures->lock, NULL);
}

void start_failures_free(struct start_failures *failures) { pthread_mutex_destroy(&failures->lock); }

static struct start_failure *find(struct start_failures *failures, const char *program) {
    for (int i = 0; i < START_FAILURES_MAX; i++) {
        struct start_failure *row = &failures->rows[i];
        if (row->open && strncmp(row->program, program, sizeof(row->program) - 1) == 0)
            return row;
    }
    return NULL;
}

/* An unused row, or the last one. */
static struct start_failure *take(struct start_failures *failures) {
    int at = 0;
    while (at + 1 < START_FAILURES_MAX && (failures->rows[at].open || failures->rows[at].reported))
        at++;
    struct start_failure *row = &failures->rows[at];
    if (row->open)
        atomic_fetch_sub(&failures->open, 1);
    return row;
}

int64_t start_failed(struct start_failures *failures, const char *program, pawl_status status,
                     const char *reason) {
    /* A missing program affects only its own work; without descriptors, processes or memory, nothing can
     * start. */
    const char *name = status == PAWL_NOT_FOUND || status == PAWL_INVALID ? program : "";
    int64_t now_ms = clock_boot_ms();
    pthread_mutex_lock(&failures->lock);
    struct start_failure *row = find(failures, name);
    if (row == NULL) {
        row = take(failures);
        *row = (struct start_failure){.since_ms = now_ms, .open = true};
        snprintf(row->program, sizeof(row->program), "%s", name);
        snprintf(row->reason, sizeof(row->reason), "%s", reason);
        atomic_fetch_add(&failures->open, 1);
    }
    int64_t wait_ms = now_ms - row->since_ms;
    if (wait_ms < START_FAILURE_WAIT_MS_MIN)
        wait_ms = START_FAILURE_WAIT_MS_MIN;
    if (wait_ms > START_FAILURE_WAIT_MS_MAX)
        wait_ms = START_FAILURE_WAIT_MS_MAX;
    row->until_ms = now_ms + wait_ms;
    pthread_mutex_unlock(&failures->lock);
    return wait_ms;
}

void start_succeeded(struct start_failures *failures, const char *program) {
    if (atomic_load_explicit(&failures->open, memory_order_relaxed) == 0)
        return;
    const char *names[] = {program, ""};
    pthread_mutex_lock(&failures->lock);
    for (int i = 0; i < 2; i++) {
        struct start_failure *row = find(failures, names[i]);
        if (row == NULL)
            continue;
        row->open = false;
        atomic_fetch_sub(&failures->open, 1);
    }
    pthread_mutex_unlock(&failures->lock);
}

bool start_failures_changed(struct start_failures *failures, struct start_failure *out) {
    bool found = false;
    pthread_mutex_lock(&failures->lock);
    for (int i = 0; i < START_FAILURES_MAX && !found; i++) {
        struct start_failure *row = &failures->rows[i];
        found = row->open != row->reported;
        if (found) {
            row->reported = row->open;
            *out = *row;
        }
    }
    pthread_mutex_unlock(&failures->lock);
    return found;
}

int64_t start_failures_until_ms(struct start_failures *failures, const char *program) {
    int64_t until_ms = 0;
    if (atomic_load_explicit(&failures->open, memory_order_relaxed) == 0)
        return 0;
    const char *names[] = {"", program};
    pthread_mutex_lock(&failures->lock);
    for (int i = 0; i < 2 && names[i] != NULL; i++) {
        const struct start_failure *row = find(failures, names[i]);
        if (row != NULL && row->until_ms > until_ms)
            until_ms = row->until_ms;
    }
    pthread_mutex_unlock(&failures->lock);
    return until_ms;
}

int64_t start_failures_wait_ms(struct start_failures *failures, const char *program) {
    int64_t until_ms = start_failures_until_ms(failures, program);
    return until_ms > 0 ? until_ms - clock_boot_ms() : START_FAILURE_WAIT_MS_MIN;
}
