/* Which perspectives inside the store have a backlog, and how many slots work on it. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "work/perspective/int.h"

/* Something is due that no message will tell of. */
void perspectives_look(struct perspectives *all) {
    pthread_mutex_lock(&all->lock);
    all->look = true;
    pthread_mutex_unlock(&all->lock);
}

/* NULL: it has had no turn since this worker became an instance. */
static struct pace *find(struct perspectives *all, pawl_str key) {
    for (size_t i = 0; i < all->pace_count; i++) {
        if (str_equal_cstr(key, all->paces[i].key))
            return &all->paces[i];
    }
    return NULL;
}

static struct pace *find_or_add(struct perspectives *all, pawl_str key) {
    struct pace *pace = find(all, key);
    if (pace != NULL)
        return pace;
    if (all->pace_count == PAWL_PERSPECTIVES_MAX)
        all->pace_count = 0; /* most of them have been removed: those that are left are looked at again */
    pace = &all->paces[all->pace_count++];
    *pace = (struct pace){.behind = true};
    snprintf(pace->key, sizeof(pace->key), "%.*s", STR_ARG(key));
    return pace;
}

static int slots(const struct perspectives *all, const struct pace *pace) {
    int helpers = all->config.helpers < PERSPECTIVE_HELPERS_MAX ? all->config.helpers
                                                                : PERSPECTIVE_HELPERS_MAX;
    return pace->wide ? 1 + helpers : 1;
}

int perspectives_turns(struct perspectives *all, pawl_str key) {
    int64_t now_ms = clock_boot_ms();
    int turns = 0;
    pthread_mutex_lock(&all->lock);
    struct pace *pace = find_or_add(all, key);
    if (pace->behind || now_ms - pace->given_ms >= all->config.poll_ms / 2) {
        turns = slots(all, pace) - pace->turns;
        pace->given_ms = now_ms;
    }
    pthread_mutex_unlock(&all->lock);
    return turns;
}

bool perspectives_turn_begin(struct perspectives *all, pawl_str key) {
    pthread_mutex_lock(&all->lock);
    struct pace *pace = find_or_add(all, key);
    bool free = pace->turns < slots(all, pace);
    if (free)
        pace->turns++;
    pthread_mutex_unlock(&all->lock);
    return free;
}

static void set_behind(struct perspectives *all, struct pace *pace, bool behind) {
    pace->behind = behind;
    if (behind)
        return;
    pace->wide = false;
    all->all_behind_ms = 0;
}

/* Since when every perspective that is fed has a backlog. */
static void sum_up(struct perspectives *all, const struct perspective_rows *rows) {
    size_t fed = 0, behind = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct pace *pace = row_fed(&rows->rows[i]) ? find(all, rows->rows[i].key) : NULL;
        fed += row_fed(&rows->rows[i]);
        behind += pace != NULL && pace->behind;
    }
    if (fed == 0 || behind < fed)
        all->all_behind_ms = 0;
    else if (all->all_behind_ms == 0)
        all->all_behind_ms = clock_boot_ms();
}

void perspectives_turn_end(struct perspectives *all, pawl_str key, bool behind,
                           const struct perspective_rows *rows) {
    pthread_mutex_lock(&all->lock);
    struct pace *pace = find(all, key); /* NULL: it was begun as another instance */
    if (pace != NULL && pace->turns > 0) {
        pace->turns--;
        set_behind(all, pace, behind);
        sum_up(all, rows);
    }
    pthread_mutex_unlock(&all->lock);
}

bool perspectives_help(struct perspectives *all, pawl_str key, bool wanted) {
    int64_t now_ms = clock_boot_ms();
    pthread_mutex_lock(&all->lock);
    struct pace *pace = find(all, key);
    bool more = pace != NULL && wanted && !pace->wide && all->config.helpers > 0 &&
                now_ms >= pace->alone_until_ms;
    if (pace != NULL && !wanted && pace->wide)
        pace->alone_until_ms = now_ms + PERSPECTIVE_ALONE_MS;
    if (pace != NULL)
        pace->wide = wanted && (pace->wide || more);
    pthread_mutex_unlock(&all->lock);
    return more;
}

bool perspectives_backlog(struct perspectives *all, pawl_str key) {
    pthread_mutex_lock(&all->lock);
    const struct pace *pace = find(all, key);
    bool behind = pace == NULL || pace->behind;
    pthread_mutex_unlock(&all->lock);
    return behind;
}

void perspectives_backlog_set(struct perspectives *all, pawl_str key, bool behind) {
    pthread_mutex_lock(&all->lock);
    set_behind(all, find_or_add(all, key), behind);
    pthread_mutex_unlock(&all->lock);
}

bool perspectives_all_behind(struct perspectives *all) {
    pthread_mutex_lock(&all->lock);
    bool behind = all->all_behind_ms > 0 && clock_boot_ms() - all->all_behind_ms < PERSPECTIVE_LEAVE_MS;
    pthread_mutex_unlock(&all->lock);
    return behind;
}
