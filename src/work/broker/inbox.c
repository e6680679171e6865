/* Threads that read subscriptions and store what arrives in the inbox. */
#include "work/broker/inbox.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "work/broker/received.h"

enum {
    PAUSE_LOOK_MS = 1000,
    LOOK_MS = 500,   /* between attempts to take a duty that another instance holds */
    RECEIVE_MS = 500 /* how long one receive waits, and so how late a stop is noticed */
};

/* One subscription and the thread that reads it. */
struct reader {
    struct inbox *inbox;
    const struct subscription_setting *setting;
    const struct transport_setting *transport;
    pthread_t thread;
    bool started;
    pawl_str group, consumer, topic;
    /* only the thread touches these */
    struct store *store;
    struct transport *session;
    struct duty duty;
    int64_t looked_ms; /* when pauses were read; boot time */
    bool paused;
    int64_t backoff_ms;
    struct arena *arena;
};

struct inbox {
    struct duty_world world;
    atomic_bool stopping;
    struct reader *readers;
    size_t count;
};

static bool stopping(const struct reader *reader) { return atomic_load(&reader->inbox->stopping); }

static void session_close(struct reader *reader) {
    reader->transport->module->close(reader->session);
    reader->session = NULL;
}

/* The broker or the store is unavailable: close the session, and wait longer before the next try. */
static void fall_back(struct reader *reader, const char *what, const pawl_error *error) {
    log_event(&reader->inbox->world.log, LOG_LEVEL_WARN, what, "transport=%s from=%.*s reason=%s",
              reader->transport->name, STR_ARG(reader->setting->from), error->text);
    session_close(reader);
    duty_back_off(&reader->inbox->stopping, &reader->backoff_ms);
}

/* Whether we hold the duty; what was read under another token must not be acknowledged. */
static bool hold_duty(struct reader *reader) {
    struct inbox *inbox = reader->inbox;
    struct duty_grant before = reader->duty.grant;
    bool held = duty_hold(&reader->duty, reader->store, inbox->world.instance(inbox->world.self));
    if (held && reader->duty.grant.token != before.token)
        session_close(reader);
    if (!held && before.held)
        log_event(&inbox->world.log, LOG_LEVEL_INFO, "subscription_given_up", "from=%.*s",
                  STR_ARG(reader->setting->from));
    if (held && !before.held)
        log_event(&inbox->world.log, LOG_LEVEL_INFO, "subscription_taken", "from=%.*s token=%lld",
                  STR_ARG(reader->setting->from), (long long)reader->duty.grant.token);
    return held;
}

/* Whether the topic is paused; checked now and then. */
static bool is_paused(struct reader *reader) {
    pawl_error error;
    struct pause_rows rows;
    int64_t now_ms = clock_boot_ms();
    if (reader->looked_ms != 0 && now_ms - reader->looked_ms < PAUSE_LOOK_MS)
        return reader->paused;
    arena_reset(reader->arena);
    if (reader->store->ops->relay->pauses(reader->store, reader->arena, &rows, &error) != PAWL_OK)
        return reader->paused;
    reader->looked_ms = now_ms;
    reader->paused = false;
    for (size_t i = 0; i < rows.count; i++)
        reader->paused = reader->paused ||
                         (rows.rows[i].scope == PAUSE_TOPIC && str_equal(rows.rows[i].name, reader->topic));
    return reader->paused;
}

static bool open_session(struct reader *reader) {
    const struct transport_module *module = reader->transport->module;
    pawl_error error = {0};
    if (reader->session != NULL)
        return true;
    pawl_status status = module->open(&reader->transport->config, &reader->session, &error);
    struct transport_subscription subscription = {reader->setting->from, reader->group, STR("pawl")};
    if (status == PAWL_OK)
        status = module->subscribe(reader->session, &subscription, &error);
    if (status != PAWL_OK)
        fall_back(reader, "subscription_failed", &error);
    return status == PAWL_OK;
}

/* Stores the deliveries, under the duty's token. */
static pawl_status store_deliveries(struct reader *reader, const struct transport_delivery *deliveries,
                                    size_t count, pawl_error *err) {
    struct received received;
    pawl_status status = received_sort(reader->arena, reader->topic, deliveries, count, &received, err);
    if (status != PAWL_OK)
        return status;
    struct messages_receive call = {.duty = str_from(reader->duty.name),
                                    .instance = reader->duty.instance,
                                    .token = reader->duty.grant.token,
                                    .consumer = reader->consumer,
                                    .topic = reader->topic,
                                    .messages = received.messages,
                                    .count = received.count,
                                    .malformed = received.malformed,
                                    .malformed_count = received.malformed_count,
                                    .payload_bytes_max = PAWL_PAYLOAD_BYTES_MAX};
    struct put_result result;
    status = reader->store->ops->relay->messages_receive(reader->store, &call, reader->arena, &result, err);
    size_t conflicts = 0;
    for (size_t i = 0; status == PAWL_OK && i < received.count; i++)
        conflicts += result.answers[i] == ANSWER_CONFLICT;
    if (status == PAWL_OK && conflicts + received.malformed_count > 0)
        log_event(&reader->inbox->world.log, LOG_LEVEL_WARN, "messages_refused",
                  "from=%.*s conflicts=%zu malformed=%zu", STR_ARG(reader->setting->from), conflicts,
                  received.malformed_count);
    return status;
}

static void read_once(struct reader *reader, struct transport_delivery *deliveries) {
    const struct transport_module *module = reader->transport->module;
    pawl_error error = {0};
    size_t count = 0;
    arena_reset(reader->arena);
    pawl_status status = module->receive(reader->session, reader->arena, TRANSPORT_RECEIVE_MAX, RECEIVE_MS,
                                         deliveries, &count, &error);
    if (status != PAWL_OK) {
        fall_back(reader, "subscription_lost", &error);
        return;
    }
    if (count == 0)
        return;
    status = store_deliveries(reader, deliveries, count, &error);
    if (status == PAWL_STALE) {
        reader->duty.grant.held = false;
        session_close(reader);
        return;
    }
    if (status !=
        PAWL_OK) { /* even if it may have been stored: it is delivered again and is then a duplicate */
        fall_back(reader, "inbox_not_stored", &error);
        return;
    }
    uint64_t tags[TRANSPORT_RECEIVE_MAX];
    for (size_t i = 0; i < count; i++)
        tags[i] = deliveries[i].tag;
    status = module->acknowledge(reader->session, tags, count, VERDICT_ACCEPT, &error);
    if (status != PAWL_OK)
        fall_back(reader, "subscription_lost", &error);
    else
        reader->backoff_ms = DUTY_BACKOFF_MS;
}

static bool open_store(struct reader *reader) {
    pawl_error error = {0};
    if (reader->store != NULL)
        return true;
    if (store_open(&reader->inbox->world.store, &reader->store, &error) == PAWL_OK)
        return true;
    fall_back(reader, "inbox_database_away", &error);
    return false;
}

static void *read_all(void *self) {
    struct reader *reader = self;
    struct transport_delivery *deliveries = calloc(TRANSPORT_RECEIVE_MAX, sizeof(*deliveries));
    reader->arena = arena_create(0);
    while (!stopping(reader) && deliveries != NULL && reader->arena != NULL) {
        if (!open_store(reader))
            continue;
        if (!hold_duty(reader) || is_paused(reader)) {
            session_close(reader);
            duty_wait(&reader->inbox->stopping, LOOK_MS);
        } else if (open_session(reader)) {
            read_once(reader, deliveries);
        }
    }
    session_close(reader);
    duty_leave(&reader->duty, reader->store);
    store_close(reader->store);
    arena_free(reader->arena);
    free(deliveries);
    return NULL;
}

static bool reader_init(struct inbox *inbox, struct reader *reader,
                        const struct subscription_setting *setting) {
    pawl_str service = inbox->world.service;
    *reader = (struct reader){.inbox = inbox,
                              .setting = setting,
                              .transport = &inbox->world.settings->transports[setting->transport],
                              .group = str_absent(setting->group) ? service : setting->group,
                              .consumer = str_absent(setting->consumer) ? service : setting->consumer,
                              .topic = str_absent(setting->topic) ? setting->from : setting->topic,
                              .backoff_ms = DUTY_BACKOFF_MS};
    int made = snprintf(reader->duty.name, sizeof(reader->duty.name), "subscribe %s %.*s %.*s",
                        reader->transport->name, STR_ARG(reader->group), STR_ARG(setting->from));
    return made > 0 && (size_t)made < sizeof(reader->duty.name);
}

pawl_status inbox_start(const struct duty_world *world, struct inbox **out, pawl_error *err) {
    size_t count = world->settings->subscription_count;
    *out = NULL;
    if (count == 0)
        return PAWL_OK;
    struct inbox *inbox = calloc(1, sizeof(*inbox));
    struct reader *readers = calloc(count, sizeof(*readers));
    if (inbox == NULL || readers == NULL) {
        free(inbox);
        free(readers);
        return error_set(err, PAWL_NO_MEMORY, "inbox", "out of memory");
    }
    inbox->world = *world;
    inbox->readers = readers;
    inbox->count = count;
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        const struct subscription_setting *setting = &world->settings->subscriptions[i];
        if (!reader_init(inbox, &readers[i], setting))
            status = error_set(err, PAWL_INVALID, "inbox",
                               "the names of the subscription to %.*s are too long", STR_ARG(setting->from));
    }
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        int code = thread_start(&readers[i].thread, read_all, &readers[i]);
        readers[i].started = code == 0;
        if (code != 0)
            status = error_errno(err, PAWL_NO_MEMORY, "inbox", code, "no thread for a subscription");
    }
    if (status != PAWL_OK) {
        inbox_stop(inbox);
        return status;
    }
    *out = inbox;
    return PAWL_OK;
}

void inbox_stop(struct inbox *inbox) {
    if (inbox == NULL)
        return;
    atomic_store(&inbox->stopping, true);
    for (size_t i = 0; i < inbox->count; i++) {
        if (inbox->readers[i].started)
            pthread_join(inbox->readers[i].thread, NULL);
    }
    free(inbox->readers);
    free(inbox);
}
