/* Programs that cannot be started. */
#include "process/trouble.h"

#include <stdio.h>
#include <string.h>

#include "base/time/clock.h"

void trouble_init(struct trouble *trouble) {
    memset(trouble, 0, sizeof(*trouble));
    pthread_mutex_init(&trouble->lock, NULL);
}

void trouble_free(struct trouble *trouble) { pthread_mutex_destroy(&trouble->lock); }

static struct trouble_row *find(struct trouble *trouble, const char *program) {
    for (int i = 0; i < TROUBLE_ROWS_MAX; i++) {
        struct trouble_row *row = &trouble->rows[i];
        if (row->open && strncmp(row->program, program, sizeof(row->program) - 1) == 0)
            return row;
    }
    return NULL;
}

/* A row that is not needed, or the last one. */
static struct trouble_row *take(struct trouble *trouble) {
    int at = 0;
    while (at + 1 < TROUBLE_ROWS_MAX && (trouble->rows[at].open || trouble->rows[at].told))
        at++;
    struct trouble_row *row = &trouble->rows[at];
    if (row->open)
        atomic_fetch_sub(&trouble->open, 1);
    return row;
}

int64_t trouble_begin(struct trouble *trouble, const char *program, pawl_status status, const char *reason) {
    /* A missing program is missing for its own work; without descriptors, processes or memory none starts. */
    const char *name = status == PAWL_NOT_FOUND || status == PAWL_INVALID ? program : "";
    int64_t now_ms = clock_boot_ms();
    pthread_mutex_lock(&trouble->lock);
    struct trouble_row *row = find(trouble, name);
    if (row == NULL) {
        row = take(trouble);
        *row = (struct trouble_row){.since_ms = now_ms, .open = true};
        snprintf(row->program, sizeof(row->program), "%s", name);
        snprintf(row->reason, sizeof(row->reason), "%s", reason);
        atomic_fetch_add(&trouble->open, 1);
    }
    int64_t wait_ms = now_ms - row->since_ms;
    if (wait_ms < TROUBLE_WAIT_MS_MIN)
        wait_ms = TROUBLE_WAIT_MS_MIN;
    if (wait_ms > TROUBLE_WAIT_MS_MAX)
        wait_ms = TROUBLE_WAIT_MS_MAX;
    row->until_ms = now_ms + wait_ms;
    pthread_mutex_unlock(&trouble->lock);
    return wait_ms;
}

void trouble_end(struct trouble *trouble, const char *program) {
    if (atomic_load_explicit(&trouble->open, memory_order_relaxed) == 0)
        return;
    const char *names[] = {program, ""};
    pthread_mutex_lock(&trouble->lock);
    for (int i = 0; i < 2; i++) {
        struct trouble_row *row = find(trouble, names[i]);
        if (row == NULL)
            continue;
        row->open = false;
        atomic_fetch_sub(&trouble->open, 1);
    }
    pthread_mutex_unlock(&trouble->lock);
}

bool trouble_news(struct trouble *trouble, struct trouble_row *out) {
    bool found = false;
    pthread_mutex_lock(&trouble->lock);
    for (int i = 0; i < TROUBLE_ROWS_MAX && !found; i++) {
        struct trouble_row *row = &trouble->rows[i];
        found = row->open != row->told;
        if (found) {
            row->told = row->open;
            *out = *row;
        }
    }
    pthread_mutex_unlock(&trouble->lock);
    return found;
}

int64_t trouble_until_ms(struct trouble *trouble, const char *program) {
    int64_t until_ms = 0;
    if (atomic_load_explicit(&trouble->open, memory_order_relaxed) == 0)
        return 0;
    const char *names[] = {"", program};
    pthread_mutex_lock(&trouble->lock);
    for (int i = 0; i < 2 && names[i] != NULL; i++) {
        const struct trouble_row *row = find(trouble, names[i]);
        if (row != NULL && row->until_ms > until_ms)
            until_ms = row->until_ms;
    }
    pthread_mutex_unlock(&trouble->lock);
    return until_ms;
}
