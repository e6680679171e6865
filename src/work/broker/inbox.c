/* Reading subscriptions and storing what arrives in the inbox. */
#include "work/broker/inbox.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "work/broker/received.h"

enum {
    PAUSE_LOOK_MS = 1000,
    PAUSED_MS = 500,  /* between turns while the topic is paused */
    RECEIVE_MS = 500, /* how long one receive waits, and so how late a stop is noticed */
    TURN_MS = 1000    /* how long a turn goes on while messages come */
};

/* One subscription. */
struct reader {
    struct inbox *inbox;
    const struct subscription_setting *setting;
    const struct transport_setting *transport;
    pawl_str group, consumer, topic;
    struct transport *session;
    int64_t token;     /* under which the session is read */
    int64_t looked_ms; /* when pauses were read; boot time */
    bool paused;
    struct arena *arena;
    struct transport_delivery *deliveries;
};

struct inbox {
    const struct transport_settings *settings;
    pawl_str service;
    struct log log;
    struct reader *readers;
    struct duty *duties;
    size_t count;
};

static void session_close(struct reader *reader) {
    transport_close(reader->transport->module, reader->session);
    reader->session = NULL;
}

/* Whether the topic is paused; checked now and then. */
static bool is_paused(struct reader *reader, struct store *store) {
    pawl_error error;
    struct pause_rows rows;
    int64_t now_ms = clock_boot_ms();
    if (reader->looked_ms != 0 && now_ms - reader->looked_ms < PAUSE_LOOK_MS)
        return reader->paused;
    arena_reset(reader->arena);
    if (store->ops->relay->pauses(store, reader->arena, &rows, &error) != PAWL_OK)
        return reader->paused;
    reader->looked_ms = now_ms;
    reader->paused = false;
    for (size_t i = 0; i < rows.count; i++)
        reader->paused = reader->paused ||
                         (rows.rows[i].scope == PAUSE_TOPIC && str_equal(rows.rows[i].name, reader->topic));
    return reader->paused;
}

/* What was read under another token must not be acknowledged. */
static pawl_status open_session(struct reader *reader, const struct duty_turn *turn, pawl_error *err) {
    const struct transport_module *module = reader->transport->module;
    if (reader->token != turn->token) {
        session_close(reader);
        log_event(&reader->inbox->log, LOG_LEVEL_INFO, "subscription_taken", "from=%.*s token=%lld",
                  STR_ARG(reader->setting->from), (long long)turn->token);
    }
    reader->token = turn->token;
    if (reader->session != NULL)
        return PAWL_OK;
    pawl_status status = transport_open(module, &reader->transport->config, &reader->session, err);
    struct transport_subscription subscription = {reader->setting->from, reader->group, STR("pawl")};
    if (status == PAWL_OK)
        status = transport_subscribe(module, reader->session, &subscription, err);
    return status;
}

static const struct duty *duty_of(const struct reader *reader) {
    return &reader->inbox->duties[reader - reader->inbox->readers];
}

/* Stores the deliveries, under the duty's token. */
static pawl_status store_deliveries(struct reader *reader, const struct duty_turn *turn, size_t count,
                                    pawl_error *err) {
    struct received received;
    pawl_status status =
        received_sort(reader->arena, reader->topic, reader->deliveries, count, &received, err);
    if (status != PAWL_OK)
        return status;
    struct messages_receive call = {.duty = str_from(duty_of(reader)->rule.name),
                                    .instance = turn->instance,
                                    .token = turn->token,
                                    .consumer = reader->consumer,
                                    .topic = reader->topic,
                                    .messages = received.messages,
                                    .count = received.count,
                                    .malformed = received.malformed,
                                    .malformed_count = received.malformed_count,
                                    .payload_bytes_max = PAWL_PAYLOAD_BYTES_MAX};
    struct put_result result;
    status = turn->store->ops->relay->messages_receive(turn->store, &call, reader->arena, &result, err);
    size_t conflicts = 0;
    for (size_t i = 0; status == PAWL_OK && i < received.count; i++)
        conflicts += result.answers[i] == ANSWER_CONFLICT;
    if (status == PAWL_OK && conflicts + received.malformed_count > 0)
        log_event(&reader->inbox->log, LOG_LEVEL_WARN, "messages_refused",
                  "from=%.*s conflicts=%zu malformed=%zu", STR_ARG(reader->setting->from), conflicts,
                  received.malformed_count);
    return status;
}

/* Messages are stored first, then acknowledged. Even those that may have been stored are delivered again
 * after a failure, and are duplicates then. */
static pawl_status read_once(struct reader *reader, struct duty_turn *turn, size_t *count, pawl_error *err) {
    const struct transport_module *module = reader->transport->module;
    uint64_t tags[TRANSPORT_RECEIVE_MAX];
    arena_reset(reader->arena);
    pawl_status status = module->receive(reader->session, reader->arena, TRANSPORT_RECEIVE_MAX, RECEIVE_MS,
                                         reader->deliveries, count, err);
    turn->elsewhere = status != PAWL_OK;
    if (status == PAWL_OK && *count > 0)
        status = store_deliveries(reader, turn, *count, err);
    for (size_t i = 0; status == PAWL_OK && i < *count; i++)
        tags[i] = reader->deliveries[i].tag;
    if (status != PAWL_OK || *count == 0)
        return status;
    status = module->acknowledge(reader->session, tags, *count, VERDICT_ACCEPT, err);
    turn->elsewhere = status != PAWL_OK;
    return status;
}

/* Reads for as long as messages come, and then waits for the broker in the next turn. */
static pawl_status read_turn(void *self, struct duty_turn *turn, pawl_error *err) {
    struct reader *reader = self;
    int64_t until_ms = clock_boot_ms() + TURN_MS;
    size_t count = 1;
    if (is_paused(reader, turn->store)) {
        session_close(reader);
        turn->next_ms = PAUSED_MS;
        return PAWL_OK;
    }
    pawl_status status = open_session(reader, turn, err);
    turn->elsewhere = status != PAWL_OK;
    while (status == PAWL_OK && count > 0 && clock_boot_ms() < until_ms && stop_read(turn->stop) == STOP_NONE)
        status = read_once(reader, turn, &count, err);
    if (status != PAWL_OK)
        session_close(reader);
    turn->lease_ended = status == PAWL_STALE;
    return turn->lease_ended ? PAWL_OK : status;
}

static void read_leave(void *self, struct duty_turn *turn) {
    struct reader *reader = self;
    (void)turn;
    session_close(reader);
}

static pawl_status reader_init(struct inbox *inbox, size_t at, pawl_error *err) {
    const struct subscription_setting *setting = &inbox->settings->subscriptions[at];
    struct reader *reader = &inbox->readers[at];
    struct duty *duty = &inbox->duties[at];
    pawl_str service = inbox->service;
    *reader = (struct reader){.inbox = inbox,
                              .setting = setting,
                              .transport = &inbox->settings->transports[setting->transport],
                              .group = str_absent(setting->group) ? service : setting->group,
                              .consumer = str_absent(setting->consumer) ? service : setting->consumer,
                              .topic = str_absent(setting->topic) ? setting->from : setting->topic,
                              .arena = arena_create(0),
                              .deliveries = calloc(TRANSPORT_RECEIVE_MAX, sizeof(*reader->deliveries))};
    *duty = (struct duty){
        .rule = {.lease_ms = DUTY_LEASE_MS}, .run = read_turn, .leave = read_leave, .self = reader};
    if (reader->arena == NULL || reader->deliveries == NULL)
        return error_no_memory(err, "inbox");
    int made = snprintf(duty->rule.name, sizeof(duty->rule.name), "subscribe %s %.*s %.*s",
                        reader->transport->name, STR_ARG(reader->group), STR_ARG(setting->from));
    if (made <= 0 || (size_t)made >= sizeof(duty->rule.name))
        return error_set(err, PAWL_INVALID, "inbox", "the names of the subscription to %.*s are too long",
                         STR_ARG(setting->from));
    return PAWL_OK;
}

pawl_status inbox_create(const struct transport_settings *settings, pawl_str service, const struct log *log,
                         struct inbox **out, pawl_error *err) {
    struct inbox *inbox = calloc(1, sizeof(*inbox));
    if (inbox == NULL)
        return error_no_memory(err, "inbox");
    *inbox = (struct inbox){.settings = settings, .service = service, .log = *log};
    inbox->readers = calloc(settings->subscription_count + 1, sizeof(*inbox->readers));
    inbox->duties = calloc(settings->subscription_count + 1, sizeof(*inbox->duties));
    pawl_status status = inbox->readers != NULL && inbox->duties != NULL ? PAWL_OK
                                                                         : error_no_memory(err, "inbox");
    while (status == PAWL_OK && inbox->count < settings->subscription_count)
        status = reader_init(inbox, inbox->count++, err);
    if (status != PAWL_OK) {
        inbox_free(inbox);
        return status;
    }
    *out = inbox;
    return PAWL_OK;
}

const struct duty *inbox_duties(const struct inbox *inbox, size_t *count) {
    *count = inbox->count;
    return inbox->duties;
}

void inbox_free(struct inbox *inbox) {
    if (inbox == NULL)
        return;
    for (size_t i = 0; i < inbox->count; i++) {
        session_close(&inbox->readers[i]);
        arena_free(inbox->readers[i].arena);
        free(inbox->readers[i].deliveries);
    }
    free(inbox->readers);
    free(inbox->duties);
    free(inbox);
}
