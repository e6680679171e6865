/* Extra threads that help with a backlog of many streams. Each takes streams that no other thread has. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "work/perspective/int.h"

void perspectives_help_ask(struct perspectives *all, pawl_str key) {
    pthread_mutex_lock(&all->lock);
    if (clock_boot_ms() >= all->alone_until_ms && all->helper_count > 0 && !str_equal_cstr(key, all->help)) {
        snprintf(all->help, sizeof(all->help), "%.*s", STR_ARG(key));
        pthread_cond_broadcast(&all->changed);
    }
    pthread_mutex_unlock(&all->lock);
}

void perspectives_help_end(struct perspectives *all, pawl_str key, bool alone) {
    pthread_mutex_lock(&all->lock);
    if (str_equal_cstr(key, all->help)) {
        all->help[0] = '\0';
        if (alone)
            all->alone_until_ms = clock_boot_ms() + PERSPECTIVE_ALONE_MS;
    }
    pthread_mutex_unlock(&all->lock);
}

/* Waits until there is a backlog to help with; false at the end. */
static bool wait_ask(struct perspectives *all, char *key, pawl_uuid *instance) {
    pthread_mutex_lock(&all->lock);
    while (!all->ending && (all->help[0] == '\0' || uuid_is_nil(all->instance)))
        pthread_cond_wait(&all->changed, &all->lock);
    memcpy(key, all->help, sizeof(all->help));
    *instance = all->instance;
    bool ending = all->ending;
    pthread_mutex_unlock(&all->lock);
    return !ending;
}

/* One batch. Errors are not reported here: the main thread runs into them too, and reports them. */
static pawl_status help(const struct work *work, pawl_str key, bool *found, pawl_error *err) {
    pawl_status status = projector_refresh(work->all, work->projector, err);
    const struct perspective_row *row = status == PAWL_OK ? projector_row(work->projector, key) : NULL;
    return row != NULL && row_fed(row) ? perspective_advance_some(work, row, found, err) : status;
}

void *perspectives_helper(void *self) {
    struct perspectives *all = self;
    char key[sizeof(all->help)];
    pawl_uuid instance;
    while (wait_ask(all, key, &instance)) {
        pawl_error error = {0};
        bool found = false;
        int64_t begin_ms = clock_boot_ms();
        struct projector *projector = projector_take(all, &error);
        pawl_status status = error.status;
        if (projector != NULL) {
            struct work work = {all, projector, instance, INT64_MAX, NULL};
            status = help(&work, str_from(key), &found, &error);
            projector_give(all, projector);
        }
        bool slow = clock_boot_ms() - begin_ms > PERSPECTIVE_HELP_MS;
        if (status != PAWL_OK || !found || slow)
            perspectives_help_end(all, str_from(key), status != PAWL_OK || slow);
    }
    return NULL;
}
