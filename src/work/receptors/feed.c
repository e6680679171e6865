/* Feeding receptors on events. A round is one transaction and needs no lease: a receptor that another worker
 * is feeding is skipped, and messages are put together with the receptor's new position or not at all. */
#include "work/receptors/feed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "work/duty.h"
#include "work/shared_store.h"

enum { LOG_MS = 1000, LINGER_POLLS = 3 };

struct receptor_feed {
    struct shared_store shared; /* the thread's store */
    int64_t poll_ms;
    const struct handler_table *table;
    pawl_str names[PAWL_RECEPTORS_MAX]; /* in the table */
    size_t count;
    bool registered;
    int limit; /* events per receptor and round */
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool ending, woken, left;
    bool working;        /* the worker is registered */
    int64_t quiet_ms;    /* boot time: until then there may be unclaimed messages */
    int64_t events, fed; /* since the last log line */
    int64_t logged_ms;   /* boot time */
    char trouble[256];   /* not logged yet; "" = none */
    char told[256];      /* the last trouble, until a round succeeds */
};

/* Registers what this worker's handlers need. */
static pawl_status register_one(struct store *store, const struct handler *handler, pawl_error *err) {
    struct receptor_new in = {.name = str_from(handler->receptor),
                              .patterns = &handler->on,
                              .pattern_count = 1,
                              .from_start = handler->from_start};
    enum store_answer answer = ANSWER_APPLIED;
    pawl_status status = store->ops->events.receptor_register(store, &in, &answer, err);
    if (status == PAWL_OK && answer == ANSWER_CONFLICT)
        status = error_set(err, PAWL_CONFLICT, "receptors",
                           "receptor %s is registered with other patterns; change them with pawl receptors "
                           "register --replace, or write %s@event: to take them as they are",
                           handler->receptor, handler->receptor);
    return status;
}

static pawl_status find_one(struct store *store, const char *name, pawl_error *err) {
    struct event_receptors list = {0};
    bool found = false;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_set(err, PAWL_NO_MEMORY, "receptors", "out of memory");
    pawl_status status = store->ops->events.receptor_list(store, arena, &list, err);
    for (size_t i = 0; status == PAWL_OK && !found && i < list.count; i++)
        found = str_equal_cstr(list.rows[i].name, name);
    if (status == PAWL_OK && !found)
        status = error_set(err, PAWL_NOT_FOUND, "receptors",
                           "receptor %s is not registered; name a pattern (%s@event:PATTERN), or register it "
                           "with pawl receptors register",
                           name, name);
    arena_free(arena);
    return status;
}

static pawl_status register_all(struct receptor_feed *feed, struct store *store, pawl_error *err) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < feed->table->count; i++) {
        const struct handler *handler = &feed->table->handlers[i];
        if (handler->event)
            status = handler->on.text.len > 0 ? register_one(store, handler, err)
                                              : find_one(store, handler->receptor, err);
    }
    feed->registered = status == PAWL_OK;
    return status;
}

static bool passing(pawl_status status) {
    return status == PAWL_UNAVAILABLE || status == PAWL_UNKNOWN || status == PAWL_BUSY;
}

/* Stamps first, then feeds, so that everything committed has a position. */
static pawl_status feed_with(struct receptor_feed *feed, struct store *store, struct feed_result *out,
                             pawl_error *err) {
    struct stamp_result stamped;
    struct receptors_feed in = {.names = feed->names, .count = feed->count, .limit = feed->limit};
    pawl_status status = feed->registered ? PAWL_OK : register_all(feed, store, err);
    if (status == PAWL_OK)
        status = store->ops->events.events_stamp(store, PAWL_STAMP_MAX, &stamped, err);
    if (status != PAWL_OK)
        return status;
    status = store->ops->events.receptors_feed(store, &in, out, err);
    if (status == PAWL_OK)
        feed->limit = PAWL_RECEPTOR_FEED;
    else if (!passing(status) && feed->limit > 1)
        feed->limit /= 2; /* events that are too large to put together are put one at a time */
    if (status == PAWL_OK && out->known < feed->count)
        status = error_set(err, PAWL_NOT_FOUND, "receptors",
                           "%zu receptors on events that this worker runs are not registered: removed "
                           "meanwhile? pawl receptors status lists them; restart the worker to register them",
                           feed->count - out->known);
    return status;
}

static pawl_status feed_round(struct receptor_feed *feed, struct feed_result *out, pawl_error *err) {
    struct store *store = NULL;
    pawl_status status = shared_store_take(&feed->shared, &store, err);
    if (status != PAWL_OK)
        return status;
    status = feed_with(feed, store, out, err);
    shared_store_give(&feed->shared, status);
    return status;
}

/* Waits for its turn; false at the end. */
static bool wait_turn(struct receptor_feed *feed, int64_t wait_ms) {
    struct timespec until = clock_monotonic_after(wait_ms);
    pthread_mutex_lock(&feed->lock);
    while (!feed->ending && !feed->woken && wait_ms > 0) {
        if (pthread_cond_timedwait(&feed->changed, &feed->lock, &until) == ETIMEDOUT)
            break;
    }
    while (!feed->ending && !feed->working)
        pthread_cond_wait(&feed->changed, &feed->lock);
    feed->woken = false;
    bool ending = feed->ending;
    pthread_mutex_unlock(&feed->lock);
    return !ending;
}

static void note(struct receptor_feed *feed, const struct feed_result *result, const pawl_error *error) {
    pthread_mutex_lock(&feed->lock);
    feed->events += result->events;
    feed->fed += result->fed;
    feed->left = result->more || passing(error->status);
    if (result->fed > 0)
        feed->quiet_ms = clock_boot_ms() + LINGER_POLLS * feed->poll_ms;
    if (error->status == PAWL_OK)
        feed->told[0] = '\0';
    else if (strncmp(feed->told, error->text, sizeof(feed->told) - 1) != 0) {
        snprintf(feed->trouble, sizeof(feed->trouble), "%.255s", error->text);
        memcpy(feed->told, feed->trouble, sizeof(feed->told));
    }
    pthread_mutex_unlock(&feed->lock);
}

static void *run(void *self) {
    struct receptor_feed *feed = self;
    int64_t wait_ms = 0, backoff_ms = DUTY_BACKOFF_MS;
    while (wait_turn(feed, wait_ms)) {
        pawl_error error = {0};
        struct feed_result result = {0};
        pawl_status status = feed_round(feed, &result, &error);
        error.status = status;
        note(feed, &result, &error);
        bool failed = status != PAWL_OK && status != PAWL_NOT_FOUND;
        wait_ms = failed ? backoff_ms : result.more ? 0 : feed->poll_ms;
        backoff_ms = failed ? duty_longer_ms(backoff_ms) : DUTY_BACKOFF_MS;
    }
    return NULL;
}

pawl_status receptor_feed_create(const struct store_config *store, int64_t poll_ms,
                                 const struct handler_table *table, struct receptor_feed **feed,
                                 pawl_error *err) {
    *feed = NULL;
    if (table->event_receptors == 0)
        return PAWL_OK;
    struct receptor_feed *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_set(err, PAWL_NO_MEMORY, "receptors", "out of memory");
    shared_store_init(&made->shared, store);
    made->poll_ms = poll_ms;
    made->table = table;
    made->limit = PAWL_RECEPTOR_FEED;
    made->left = true;
    for (size_t i = 0; i < table->count && made->count < PAWL_RECEPTORS_MAX; i++) {
        if (table->handlers[i].event)
            made->names[made->count++] = str_from(table->handlers[i].receptor);
    }
    thread_cond_init(&made->changed);
    pthread_mutex_init(&made->lock, NULL);
    struct store *opened = NULL;
    pawl_status status = PAWL_OK;
    if (shared_store_take(&made->shared, &opened, err) == PAWL_OK) {
        status = register_all(made, opened, err);
        shared_store_give(&made->shared, status);
    }
    if (passing(status))
        status = PAWL_OK;
    if (status != PAWL_OK) {
        receptor_feed_free(made);
        return status;
    }
    *feed = made;
    return PAWL_OK;
}

pawl_status receptor_feed_start(struct receptor_feed *feed, pawl_error *err) {
    int failed = thread_start(&feed->thread, run, feed);
    if (failed != 0)
        return error_errno(err, PAWL_UNAVAILABLE, "receptors", failed, "no thread");
    feed->started = true;
    return PAWL_OK;
}

void receptor_feed_free(struct receptor_feed *feed) {
    if (feed == NULL)
        return;
    pthread_mutex_lock(&feed->lock);
    feed->ending = true;
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->lock);
    if (feed->started)
        pthread_join(feed->thread, NULL);
    shared_store_close(&feed->shared);
    pthread_cond_destroy(&feed->changed);
    pthread_mutex_destroy(&feed->lock);
    free(feed);
}

void receptor_feed_tick(struct receptor_feed *feed, pawl_uuid instance, struct log *log) {
    char trouble[sizeof(feed->trouble)];
    int64_t now_ms = clock_boot_ms(), events = 0, fed = 0;
    pthread_mutex_lock(&feed->lock);
    bool working = !uuid_is_nil(instance);
    if (working != feed->working) {
        feed->working = working;
        pthread_cond_broadcast(&feed->changed);
    }
    memcpy(trouble, feed->trouble, sizeof(trouble));
    feed->trouble[0] = '\0';
    if (feed->fed > 0 && now_ms - feed->logged_ms >= LOG_MS) {
        events = feed->events;
        fed = feed->fed;
        feed->events = feed->fed = 0;
        feed->logged_ms = now_ms;
    }
    pthread_mutex_unlock(&feed->lock);
    if (trouble[0] != '\0')
        log_event(log, LOG_LEVEL_WARN, "receptor_trouble", "error=%s", trouble);
    if (fed > 0)
        log_event(log, LOG_LEVEL_INFO, "receptors_fed", "events=%" PRId64 " messages=%" PRId64, events, fed);
}

void receptor_feed_wake(struct receptor_feed *feed) {
    pthread_mutex_lock(&feed->lock);
    feed->woken = true;
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->lock);
}

bool receptor_feed_busy(struct receptor_feed *feed) {
    pthread_mutex_lock(&feed->lock);
    bool busy = feed->left || clock_boot_ms() < feed->quiet_ms;
    pthread_mutex_unlock(&feed->lock);
    return busy;
}
