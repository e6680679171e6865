/* Feeding receptors on events. A turn is one transaction and needs no lease: a receptor that another worker
 * is feeding is skipped, and messages are put together with the receptor's new position or not at all. */
#include "work/receptors/feed.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"

enum { LOG_MS = 1000, LINGER_POLLS = 3 };

struct receptor_feed {
    struct duty duty;
    const struct handler_table *table;
    pawl_str names[PAWL_RECEPTORS_MAX]; /* in the table */
    size_t count;
    struct log log;
    bool registered;
    int limit;                /* events per receptor and turn */
    int64_t events, fed;      /* since the last log line */
    int64_t logged_ms;        /* boot time */
    char told[256];           /* the last trouble, until a turn succeeds */
    atomic_bool left;         /* there may be events that were not fed */
    _Atomic int64_t quiet_ms; /* boot time: until then there may be unclaimed messages */
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
        status =
            error_set(err, PAWL_CONFLICT, "receptors",
                      "receptor %s is registered with other patterns; change them with pawl receptor set "
                      "--replace, or write %s@event: to take them as they are",
                      handler->receptor, handler->receptor);
    return status;
}

static pawl_status find_one(struct store *store, const char *name, pawl_error *err) {
    struct event_receptors list = {0};
    bool found = false;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_no_memory(err, "receptors");
    pawl_status status = store->ops->events.receptor_list(store, arena, &list, err);
    for (size_t i = 0; status == PAWL_OK && !found && i < list.count; i++)
        found = str_equal_cstr(list.rows[i].name, name);
    if (status == PAWL_OK && !found)
        status = error_set(err, PAWL_NOT_FOUND, "receptors",
                           "receptor %s is not registered; name a pattern (%s@event:PATTERN), or register it "
                           "with pawl receptor set",
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
                           "meanwhile? pawl receptor list lists them; restart the worker to register them",
                           feed->count - out->known);
    return status;
}

static void tell(struct receptor_feed *feed, const struct feed_result *result, const pawl_error *error) {
    int64_t now_ms = clock_boot_ms();
    feed->events += result->events;
    feed->fed += result->fed;
    if (error->status == PAWL_OK) {
        feed->told[0] = '\0';
    } else if (strncmp(feed->told, error->text, sizeof(feed->told) - 1) != 0) {
        snprintf(feed->told, sizeof(feed->told), "%.255s", error->text);
        log_event(&feed->log, LOG_LEVEL_WARN, "receptor_trouble", "error=%s", feed->told);
    }
    if (feed->fed == 0 || now_ms - feed->logged_ms < LOG_MS)
        return;
    log_event(&feed->log, LOG_LEVEL_INFO, "receptors_fed", "events=%" PRId64 " messages=%" PRId64,
              feed->events, feed->fed);
    feed->events = feed->fed = 0;
    feed->logged_ms = now_ms;
}

static pawl_status feed_turn(void *self, struct duty_turn *turn, pawl_error *err) {
    struct receptor_feed *feed = self;
    struct feed_result result = {0};
    pawl_error error = {0};
    error.status = feed_with(feed, turn->store, &result, &error);
    if (result.fed > 0)
        atomic_store(&feed->quiet_ms, clock_boot_ms() + LINGER_POLLS * feed->duty.rule.period_ms);
    atomic_store(&feed->left, result.more || passing(error.status));
    tell(feed, &result, &error);
    if (result.more)
        turn->next_ms = 0;
    if (error.status != PAWL_OK)
        *err = error;
    return error.status == PAWL_NOT_FOUND ? PAWL_OK : error.status; /* the others are fed */
}

pawl_status receptor_feed_create(const struct store_config *store, int64_t poll_ms,
                                 const struct handler_table *table, const struct log *log,
                                 struct receptor_feed **feed, pawl_error *err) {
    struct receptor_feed *made = calloc(1, sizeof(*made));
    struct store *opened = NULL;
    pawl_error later;
    if (made == NULL)
        return error_no_memory(err, "receptors");
    *made =
        (struct receptor_feed){.duty = {.rule = {.name = "receptors", .period_ms = poll_ms, .woken = true},
                                        .run = feed_turn,
                                        .self = made},
                               .table = table,
                               .log = *log,
                               .limit = PAWL_RECEPTOR_FEED,
                               .left = true};
    for (size_t i = 0; i < table->count && made->count < PAWL_RECEPTORS_MAX; i++) {
        if (table->handlers[i].event)
            made->names[made->count++] = str_from(table->handlers[i].receptor);
    }
    pawl_status status = PAWL_OK;
    if (store_open(store, &opened, &later) == PAWL_OK)
        status = register_all(made, opened, err);
    store_close(opened);
    if (status != PAWL_OK && !passing(status)) {
        receptor_feed_free(made);
        return status;
    }
    *feed = made;
    return PAWL_OK;
}

const struct duty *receptor_feed_duty(const struct receptor_feed *feed) { return &feed->duty; }

void receptor_feed_free(struct receptor_feed *feed) { free(feed); }

bool receptor_feed_busy(struct receptor_feed *feed) {
    return atomic_load(&feed->left) || clock_boot_ms() < atomic_load(&feed->quiet_ms);
}
