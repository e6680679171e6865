/* What every transport must do, one body for all of them.
 * Usage: conformance MODULE URL [name=value]...
 *   to, from, group     destination of publishes and source of the subscription (from: empty = publish only)
 *   closed              an address where nobody listens
 *   denied              an address with a wrong password; secret: that password, which no error may show
 *   only=open           nothing but the cases about opening
 *   only=publish        one message is published
 *   only=refused        one message is refused for now: there is no room
 *   only=receive        one message is received; expect: its data, or malformed
 *   only=hold           two messages are received and not acknowledged
 *   only=rounds         one reader receives and acknowledges message after message
 *   only=steady         messages are published for so many `seconds` over one session; reopens: how often it
 *                       breaks
 *   only=frozen         every call ends by its deadline when the broker stops: the program says "# ready" and
 *                       goes on when a line comes
 *   only=chatter        publishing ends by its deadline when the broker says everything but the answer
 *   only=cut            a message whose headers cannot be built is not sent without them
 *   only=forbidden      messages to a destination that is `forbidden` to this user, among others
 *   only=group          a `group` that the broker cannot name
 *   clear               an address of a broker that goes on in the clear where TLS must begin
 *   says                what the reason of a refusal must contain
 *   tls_wrong           an address whose certificate is for another name; ca: the authority to trust
 *   unroutable          a destination that does not exist;  large: a payload of so many bytes is too large
 *   option.NAME         a setting of the module
 * Prints TAP. covers: W31 M51 M53 B2.11
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "transport/module.h"

enum { STREAMS = 10, PER_STREAM = 10, TOTAL = STREAMS * PER_STREAM, WAIT_MS = 10000, WORDS_MAX = 32 };

struct run {
    const struct transport_module *module;
    struct transport_config config;
    struct transport_option words[WORDS_MAX];
    size_t word_count;
    struct transport_option options[TRANSPORT_OPTIONS_MAX];
    int cases, failures;
    struct arena *arena;
    char ids[TOTAL + 8][UUID_TEXT_BYTES];
};

static const char *word(const struct run *run, const char *name) {
    for (size_t i = 0; i < run->word_count; i++) {
        if (strcmp(run->words[i].name, name) == 0)
            return run->words[i].value;
    }
    return NULL;
}

static void verdict(struct run *run, bool good, const char *name, const char *detail) {
    run->cases++;
    run->failures += !good;
    if (!good)
        printf("# %s\n", detail);
    printf("%s %d - %s %s\n", good ? "ok" : "not ok", run->cases, run->module->name, name);
    fflush(stdout);
}

static const char *new_id(struct run *run, size_t at) {
    pawl_uuid id;
    pawl_error error;
    if (uuid_next(&id, &error) != PAWL_OK)
        abort();
    return uuid_format(id, run->ids[at]);
}

static struct transport_message make(struct run *run, size_t at, const char *stream, const char *payload) {
    return (struct transport_message){
        .destination = str_from(word(run, "to")),
        .event = {.id = str_from(new_id(run, at)),
                  .source = STR("/pawl/test"),
                  .type = STR("order.created"),
                  .time = STR("2026-01-02T03:04:05.678Z"),
                  .data_type = STR(EVENT_DATA_TYPE),
                  .stream = str_from(stream),
                  .sequence = STR("42"),
                  .correlation_id = STR("01890a5d-ac96-774b-bcce-b302099a8057"),
                  .causation_id = STR("01890a5d-ac96-774b-bcce-b302099a8058"),
                  .traceparent = STR("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
                  .headers = STR("{\"tenant\":\"blue\"}"),
                  .data = str_from(payload)}};
}

static struct transport *open_or_fail(struct run *run, const char *name) {
    struct transport *session = NULL;
    pawl_error error = {0};
    if (transport_open(run->module, &run->config, &session, &error) != PAWL_OK) {
        verdict(run, false, name, error.text);
        return NULL;
    }
    return session;
}

static struct transport *subscribe_or_fail(struct run *run, const char *name) {
    struct transport *session = open_or_fail(run, name);
    struct transport_subscription subscription = {
        str_from(word(run, "from")), str_from(word(run, "group") != NULL ? word(run, "group") : "pawl"),
        STR("reader")};
    pawl_error error = {0};
    if (session != NULL && transport_subscribe(run->module, session, &subscription, &error) != PAWL_OK) {
        verdict(run, false, name, error.text);
        transport_close(run->module, session);
        return NULL;
    }
    return session;
}

/* Receives until `wanted` have come or the time is over. */
static size_t receive(struct run *run, struct transport *session, struct transport_delivery *deliveries,
                      size_t wanted, bool acknowledge, pawl_error *error) {
    size_t have = 0;
    int64_t until_ms = clock_boot_ms() + WAIT_MS;
    while (have < wanted && clock_boot_ms() < until_ms) {
        size_t got = 0;
        if (run->module->receive(session, run->arena, wanted - have, 500, deliveries + have, &got, error) !=
            PAWL_OK)
            return have;
        uint64_t tags[TOTAL + 8];
        for (size_t i = 0; i < got; i++)
            tags[i] = deliveries[have + i].tag;
        if (acknowledge && run->module->acknowledge(session, tags, got, VERDICT_ACCEPT, error) != PAWL_OK)
            return have;
        have += got;
    }
    return have;
}

static bool same(const struct event *a, const struct event *b) {
    return str_equal(a->id, b->id) && str_equal(a->source, b->source) && str_equal(a->type, b->type) &&
           str_equal(a->time, b->time) && str_equal(a->stream, b->stream) &&
           str_equal(a->sequence, b->sequence) && str_equal(a->correlation_id, b->correlation_id) &&
           str_equal(a->causation_id, b->causation_id) && str_equal(a->traceparent, b->traceparent) &&
           str_equal(a->headers, b->headers) && str_equal(a->data, b->data);
}

static void one_message(struct run *run) {
    struct transport *session = open_or_fail(run, "one message is confirmed");
    if (session == NULL)
        return;
    struct transport_message message =
        make(run, 0, "s-1", "{\"n\": 1, \"text\": \"ä\\u00e9\\n\", \"big\": 9007199254740993}");
    struct transport_result result = {0};
    pawl_error error = {0};
    pawl_status status = run->module->publish(session, &message, 1, &result, &error);
    verdict(run, status == PAWL_OK && result.fate == FATE_CONFIRMED, "one message is confirmed",
            status == PAWL_OK ? result.error : error.text);
    transport_close(run->module, session);
    if (run->module->subscribe == NULL || word(run, "from") == NULL)
        return;
    struct transport_delivery delivery = {0};
    session = subscribe_or_fail(run, "every attribute arrives");
    if (session == NULL)
        return;
    size_t got = receive(run, session, &delivery, 1, true, &error);
    verdict(run, got == 1 && !delivery.malformed && same(&delivery.event, &message.event),
            "every attribute arrives",
            got == 1 ? delivery.malformed ? delivery.reason : "something differs" : error.text);
    transport_close(run->module, session);
}

static char *payload_of(struct run *run, int number) {
    return arena_printf(run->arena, "{\"n\":%d}", number);
}

/* Per stream one message at a time, as the outbox does it for transports that do not keep order by
 * themselves. */
static size_t publish_many(struct run *run, struct transport *session, pawl_error *error) {
    size_t confirmed = 0;
    for (int n = 0; n < PER_STREAM; n++) {
        struct transport_message messages[STREAMS];
        struct transport_result results[STREAMS];
        memset(results, 0, sizeof(results));
        for (int s = 0; s < STREAMS; s++)
            messages[s] =
                make(run, (size_t)(n * STREAMS + s), arena_printf(run->arena, "s-%d", s), payload_of(run, n));
        if (run->module->publish(session, messages, STREAMS, results, error) != PAWL_OK)
            return confirmed;
        for (int s = 0; s < STREAMS; s++)
            confirmed += results[s].fate == FATE_CONFIRMED;
    }
    return confirmed;
}

static bool in_order(const struct transport_delivery *deliveries, size_t count) {
    int next[STREAMS] = {0};
    for (size_t i = 0; i < count; i++) {
        int stream = -1, number = -1;
        if (deliveries[i].malformed || sscanf(deliveries[i].event.stream.ptr, "s-%d", &stream) != 1 ||
            sscanf(deliveries[i].event.data.ptr, "{\"n\":%d}", &number) != 1 || stream < 0 ||
            stream >= STREAMS || number != next[stream])
            return false;
        next[stream]++;
    }
    return true;
}

static void many_messages(struct run *run) {
    struct transport *session = open_or_fail(run, "a hundred messages are confirmed");
    if (session == NULL)
        return;
    pawl_error error = {0};
    size_t confirmed = publish_many(run, session, &error);
    verdict(run, confirmed == TOTAL, "a hundred messages are confirmed", error.text);
    transport_close(run->module, session);
    if (run->module->subscribe == NULL || word(run, "from") == NULL)
        return;
    struct transport_delivery *deliveries = calloc(TOTAL + 8, sizeof(*deliveries));
    session = subscribe_or_fail(run, "what was not acknowledged");
    if (session == NULL || deliveries == NULL)
        return;
    size_t got = receive(run, session, deliveries, TOTAL, false, &error);
    verdict(run, got == TOTAL && in_order(deliveries, got), "they arrive in the order of their streams",
            arena_printf(run->arena, "%zu came: %s", got, error.text));
    transport_close(run->module, session);
    session = subscribe_or_fail(run, "what was not acknowledged comes again, in order");
    if (session == NULL)
        return;
    got = receive(run, session, deliveries, TOTAL, true, &error);
    verdict(run, got == TOTAL && in_order(deliveries, got), "what was not acknowledged comes again, in order",
            arena_printf(run->arena, "%zu came: %s", got, error.text));
    transport_close(run->module, session);
    session = subscribe_or_fail(run, "what was acknowledged does not come again");
    if (session == NULL)
        return;
    size_t extra = 0;
    pawl_status status = run->module->receive(session, run->arena, TOTAL, 1000, deliveries, &extra, &error);
    verdict(run, status == PAWL_OK && extra == 0, "what was acknowledged does not come again",
            arena_printf(run->arena, "%zu came: %s", extra, error.text));
    transport_close(run->module, session);
    free(deliveries);
}

static void large_payload(struct run *run) {
    size_t bytes = 200000;
    char *payload = arena_alloc(run->arena, bytes + 1);
    memset(payload, 'x', bytes);
    payload[0] = payload[bytes - 1] = '"';
    struct transport *session = open_or_fail(run, "a payload of 200 kB");
    if (session == NULL)
        return;
    struct transport_message message = make(run, 0, "s-1", payload);
    struct transport_result result = {0};
    pawl_error error = {0};
    pawl_status status = run->module->publish(session, &message, 1, &result, &error);
    transport_close(run->module, session);
    bool good = status == PAWL_OK && result.fate == FATE_CONFIRMED;
    if (good && run->module->subscribe != NULL && word(run, "from") != NULL) {
        struct transport_delivery delivery = {0};
        session = subscribe_or_fail(run, "a payload of 200 kB");
        if (session == NULL)
            return;
        good = receive(run, session, &delivery, 1, true, &error) == 1 &&
               str_equal(delivery.event.data, message.event.data);
        transport_close(run->module, session);
    }
    verdict(run, good, "a payload of 200 kB", result.error[0] != '\0' ? result.error : error.text);
}

/* One bad message among good ones: only the bad one fails, and it is known why. */
static void bad_one(struct run *run, const char *name, struct transport_message bad, bool permanent) {
    struct transport *session = open_or_fail(run, name);
    if (session == NULL)
        return;
    struct transport_message messages[] = {make(run, 0, "s-1", "{\"n\":0}"), bad,
                                           make(run, 2, "s-3", "{\"n\":2}")};
    struct transport_result results[3];
    memset(results, 0, sizeof(results));
    pawl_error error = {0};
    pawl_status status = run->module->publish(session, messages, 3, results, &error);
    bool classed = permanent ? results[1].fate == FATE_REJECTED
                             : results[1].fate == FATE_REFUSED || results[1].fate == FATE_REJECTED;
    verdict(run,
            status == PAWL_OK && results[0].fate == FATE_CONFIRMED && results[2].fate == FATE_CONFIRMED &&
                classed,
            name,
            arena_printf(run->arena, "fates %d %d %d: %s %s", results[0].fate, results[1].fate,
                         results[2].fate, results[1].error, error.text));
    printf("# reason: %s\n", results[1].error);
    transport_close(run->module, session);
    if (run->module->subscribe == NULL || word(run, "from") == NULL)
        return;
    struct transport_delivery rest[2];
    session = subscribe_or_fail(run, name);
    if (session != NULL)
        (void)receive(run, session, rest, 2, true, &error);
    transport_close(run->module, session);
}

/* Without permission for one destination, each of its messages is refused, and the session serves others. */
static void forbidden(struct run *run) {
    const char *name = "what is forbidden is refused, the rest is confirmed";
    struct transport *session = open_or_fail(run, name);
    if (session == NULL)
        return;
    struct transport_message messages[5];
    struct transport_result results[5];
    memset(results, 0, sizeof(results));
    for (size_t i = 0; i < 5; i++) {
        messages[i] = make(run, i, arena_printf(run->arena, "s-%zu", i), "{\"n\":1}");
        if (i % 2 == 1)
            messages[i].destination = str_from(word(run, "forbidden"));
    }
    pawl_error error = {0};
    pawl_status status = run->module->publish(session, messages, 4, results, &error);
    if (status == PAWL_OK)
        status = run->module->publish(session, messages + 4, 1, results + 4, &error);
    bool good = status == PAWL_OK;
    for (size_t i = 0; i < 5; i++)
        good = good && results[i].fate == (i % 2 == 1 ? FATE_REFUSED : FATE_CONFIRMED);
    verdict(run, good, name,
            arena_printf(run->arena, "fates %d %d %d %d %d: %s %s", results[0].fate, results[1].fate,
                         results[2].fate, results[3].fate, results[4].fate, results[1].error, error.text));
    printf("# reason: %s\n", results[1].error);
    transport_close(run->module, session);
}

/* The first of two messages has headers beyond what a buffer takes; the second must not hide that. */
static void cut_headers(struct run *run) {
    const char *name = "headers that cannot be built are not left out";
    char *huge = calloc(1, PAWL_BUF_BYTES_MAX);
    struct transport *session = huge != NULL ? open_or_fail(run, name) : NULL;
    if (session != NULL) {
        struct transport_message messages[] = {make(run, 0, "s-1", "{}"), make(run, 1, "s-2", "{}")};
        struct transport_result results[2];
        memset(results, 0, sizeof(results));
        messages[0].event.traceparent = (pawl_str){huge, PAWL_BUF_BYTES_MAX};
        pawl_error error = {0};
        pawl_status status = run->module->publish(session, messages, 2, results, &error);
        verdict(run, status == PAWL_NO_MEMORY && results[0].fate == FATE_UNAVAILABLE, name,
                arena_printf(run->arena, "%s, fate %d: %s", pawl_status_name(status), results[0].fate,
                             error.text));
    }
    transport_close(run->module, session);
    free(huge);
}

static void refused_group(struct run *run) {
    struct transport *session = open_or_fail(run, "a group that cannot be");
    struct transport_subscription subscription = {str_from(word(run, "from")), str_from(word(run, "group")),
                                                  STR("reader")};
    pawl_error error = {0};
    if (session == NULL)
        return;
    pawl_status status = transport_subscribe(run->module, session, &subscription, &error);
    verdict(run, status == PAWL_INVALID && strstr(error.text, word(run, "says")) != NULL,
            "a group that cannot be",
            arena_printf(run->arena, "%s: %s", pawl_status_name(status), error.text));
    transport_close(run->module, session);
}

static void refused_message(struct run *run) {
    struct transport *session = open_or_fail(run, "a full queue refuses for now");
    if (session == NULL)
        return;
    struct transport_message message = make(run, 0, "s-1", "{\"n\":1}");
    struct transport_result result = {0};
    pawl_error error = {0};
    pawl_status status = run->module->publish(session, &message, 1, &result, &error);
    verdict(run, status == PAWL_OK && result.fate == FATE_REFUSED, "a full queue refuses for now",
            arena_printf(run->arena, "fate %d: %s %s", result.fate, result.error, error.text));
    printf("# reason: %s\n", result.error);
    transport_close(run->module, session);
}

/* Whatever a reader that is not ours has put there. */
static void receive_one(struct run *run) {
    const char *expected = word(run, "expect");
    struct transport *session = subscribe_or_fail(run, "receives what another client sent");
    if (session == NULL)
        return;
    struct transport_delivery delivery = {0};
    pawl_error error = {0};
    size_t got = receive(run, session, &delivery, 1, true, &error);
    bool malformed = strcmp(expected, "malformed") == 0;
    bool good = got == 1 && delivery.malformed == malformed &&
                (malformed ? delivery.reason[0] != '\0' : str_equal_cstr(delivery.event.data, expected));
    verdict(run, good,
            malformed ? "says why what another client sent is no event" : "receives what another client sent",
            got == 1 ? arena_printf(run->arena, "%s %.*s", delivery.reason, STR_ARG(delivery.event.data))
                     : error.text);
    if (malformed)
        printf("# reason: %s\n", delivery.reason);
    transport_close(run->module, session);
}

/* Publishes one message on a session of its own. */
static bool publish_one(struct run *run, const struct transport_message *message, pawl_error *error) {
    struct transport_result result = {0};
    struct transport *session = NULL;
    bool good = transport_open(run->module, &run->config, &session, error) == PAWL_OK &&
                run->module->publish(session, message, 1, &result, error) == PAWL_OK &&
                result.fate == FATE_CONFIRMED;
    transport_close(run->module, session);
    return good;
}

static void hold(struct run *run) {
    struct transport_delivery deliveries[2];
    pawl_error error = {0};
    size_t got = 0;
    for (size_t i = 0; i < 2; i++) {
        struct transport_message message = make(run, i, "s-1", "{\"n\":1}");
        got += publish_one(run, &message, &error);
    }
    struct transport *session = got == 2 ? subscribe_or_fail(run, "two messages are held") : NULL;
    if (session != NULL)
        got = receive(run, session, deliveries, 2, false, &error);
    verdict(run, session != NULL && got == 2, "two messages are held", error.text);
    transport_close(run->module, session);
}

/* What a reader asks and what it is answered stay together. */
static void rounds(struct run *run) {
    enum { ROUNDS = 6 };
    pawl_error error = {0};
    int good = 0;
    struct transport *session = subscribe_or_fail(run, "one reader, message after message");
    for (int i = 0; session != NULL && i < ROUNDS && good == i; i++) {
        struct transport_message message = make(run, 0, "s-1", payload_of(run, i));
        struct transport_delivery delivery = {0};
        good += publish_one(run, &message, &error) &&
                receive(run, session, &delivery, 1, true, &error) == 1 &&
                same(&delivery.event, &message.event);
    }
    verdict(run, good == ROUNDS, "one reader, message after message",
            arena_printf(run->arena, "round %d: %s", good, error.text));
    transport_close(run->module, session);
}

/* A session that breaks is opened again, and its message is published again: none may be lost or blamed. */
static void steady(struct run *run) {
    int64_t until_ms = clock_boot_ms() + strtoll(word(run, "seconds"), NULL, 10) * 1000;
    long wanted = word(run, "reopens") != NULL ? strtol(word(run, "reopens"), NULL, 10) : 0;
    long reopens = 0, confirmed = 0, blamed = 0;
    char reason[TRANSPORT_ERROR_BYTES] = "";
    struct transport *session = open_or_fail(run, "publishes all the time");
    while (session != NULL && clock_boot_ms() < until_ms) {
        struct transport_message message = make(run, 0, "s-1", "{\"n\":1}");
        struct transport_result result = {0};
        pawl_error error = {0};
        if (run->module->publish(session, &message, 1, &result, &error) != PAWL_OK) {
            reopens++;
            snprintf(reason, sizeof(reason), "%.200s", error.text);
            transport_close(run->module, session);
            session = open_or_fail(run, "publishes all the time");
        }
        confirmed += result.fate == FATE_CONFIRMED;
        blamed += result.fate == FATE_REFUSED || result.fate == FATE_REJECTED;
        poll(NULL, 0, 50);
    }
    verdict(run, session != NULL && confirmed > 10 && blamed == 0 && reopens == wanted,
            "publishes all the time, no message is blamed",
            arena_printf(run->arena, "%ld confirmed, %ld blamed, opened again %ld times: %s", confirmed,
                         blamed, reopens, reason));
    transport_close(run->module, session);
}

/* The calls of a session whose broker neither reads nor answers. Each has a deadline of a second; the bound
 * only tells late from never. */
enum { FROZEN_MS = 1000, FROZEN_MS_MAX = 30000, BULK = 64, BULK_BYTES = 900000 };

static void ended(struct run *run, const char *name, int64_t began_ms, bool good, const pawl_error *error) {
    int64_t took_ms = clock_boot_ms() - began_ms;
    verdict(run, good && took_ms < FROZEN_MS_MAX, name,
            arena_printf(run->arena, "after %" PRId64 " ms: %s", took_ms, error->text));
}

static void frozen_publish(struct run *run, struct transport *session, size_t count, size_t bytes,
                           const char *name) {
    struct transport_message messages[BULK];
    struct transport_result results[BULK];
    char *payload = arena_alloc(run->arena, bytes + 1);
    memset(payload, 'x', bytes);
    payload[0] = payload[bytes - 1] = '"';
    payload[bytes] = '\0';
    for (size_t i = 0; i < count; i++)
        messages[i] = make(run, i, arena_printf(run->arena, "s-%zu", i), payload);
    pawl_error error = {0};
    int64_t began_ms = clock_boot_ms();
    pawl_status status = run->module->publish(session, messages, count, results, &error);
    bool good = status == PAWL_UNAVAILABLE;
    for (size_t i = 0; i < count; i++)
        good = good && results[i].fate == FATE_UNAVAILABLE;
    ended(run, name, began_ms, good, &error);
}

static void frozen_reader(struct run *run, struct transport *session, uint64_t tag) {
    struct transport_delivery deliveries[BULK];
    size_t got = 0;
    pawl_error error = {0};
    int64_t began_ms = clock_boot_ms();
    pawl_status status = run->module->acknowledge(session, &tag, 1, VERDICT_ACCEPT, &error);
    ended(run, "an acknowledgement of a frozen broker ends", began_ms,
          status == PAWL_OK || status == PAWL_UNAVAILABLE, &error);
    began_ms = clock_boot_ms();
    status = run->module->receive(session, run->arena, BULK, 100, deliveries, &got, &error);
    ended(run, "a receive from a frozen broker ends", began_ms,
          got == 0 && (status == PAWL_OK || status == PAWL_UNAVAILABLE), &error);
}

static void frozen(struct run *run) {
    run->config.connect_ms = run->config.confirm_ms = FROZEN_MS;
    struct transport *mute = open_or_fail(run, "a frozen broker");
    struct transport *deaf = open_or_fail(run, "a frozen broker");
    struct transport *reader = subscribe_or_fail(run, "a frozen broker");
    struct transport_message message = make(run, 0, "s-1", "{\"n\":1}");
    struct transport_delivery delivery = {0};
    pawl_error error = {0};
    if (mute == NULL || deaf == NULL || reader == NULL || !publish_one(run, &message, &error) ||
        receive(run, reader, &delivery, 1, false, &error) != 1) {
        verdict(run, false, "a message before the broker freezes", error.text);
        return;
    }
    printf("# ready\n");
    fflush(stdout);
    (void)getchar();
    frozen_publish(run, mute, 1, 8, "a frozen broker does not confirm");
    frozen_publish(run, deaf, BULK, BULK_BYTES, "a frozen broker does not read what is sent");
    frozen_reader(run, reader, delivery.tag);
    struct transport *late = NULL;
    int64_t began_ms = clock_boot_ms();
    pawl_status status = transport_open(run->module, &run->config, &late, &error);
    ended(run, "a frozen broker does not greet", began_ms, status == PAWL_UNAVAILABLE, &error);
    began_ms = clock_boot_ms();
    transport_close(run->module, mute);
    transport_close(run->module, deaf);
    transport_close(run->module, reader);
    transport_close(run->module, late);
    ended(run, "the sessions of a frozen broker close", began_ms, true, &error);
}

static void chatter(struct run *run) {
    run->config.confirm_ms = FROZEN_MS;
    struct transport *session = open_or_fail(run, "a broker that says all but the answer");
    if (session != NULL)
        frozen_publish(run, session, 1, 8, "a broker that says all but the answer");
    transport_close(run->module, session);
}

static void refused_open(struct run *run, const char *name, const char *url, const char *ca,
                         pawl_status wanted) {
    struct transport_config config = run->config;
    config.url = url;
    config.ca_file = ca;
    config.connect_ms = 5000;
    struct transport *session = NULL;
    pawl_error error = {0};
    int64_t began_ms = clock_boot_ms();
    pawl_status status = transport_open(run->module, &config, &session, &error);
    int64_t took_ms = clock_boot_ms() - began_ms;
    const char *secret = word(run, "secret"), *says = word(run, "says");
    bool shown = secret != NULL && strstr(error.text, secret) != NULL;
    bool said = says == NULL || strstr(error.text, says) != NULL;
    verdict(run, status == wanted && took_ms < 8000 && !shown && said, name,
            arena_printf(run->arena, "%s after %" PRId64 " ms: %s", pawl_status_name(status), took_ms,
                         error.text));
    printf("# reason: %s\n", error.text);
    transport_close(run->module, session);
}

static bool read_words(struct run *run, int argc, char **argv) {
    for (int i = 3; i < argc && run->word_count < WORDS_MAX; i++) {
        char *equals = strchr(argv[i], '=');
        if (equals == NULL)
            return false;
        *equals = '\0';
        if (strncmp(argv[i], "option.", 7) == 0)
            run->options[run->config.option_count++] = (struct transport_option){argv[i] + 7, equals + 1};
        else
            run->words[run->word_count++] = (struct transport_option){argv[i], equals + 1};
    }
    return true;
}

static void run_cases(struct run *run) {
    if (word(run, "only") == NULL) {
        /* The first reader makes the queue where there is none. */
        if (run->module->subscribe != NULL && word(run, "from") != NULL)
            transport_close(run->module, subscribe_or_fail(run, "a reader that comes first"));
        one_message(run);
        many_messages(run);
        large_payload(run);
    } else if (strcmp(word(run, "only"), "publish") == 0) {
        one_message(run);
    } else if (strcmp(word(run, "only"), "refused") == 0) {
        refused_message(run);
    } else if (strcmp(word(run, "only"), "receive") == 0) {
        receive_one(run);
    } else if (strcmp(word(run, "only"), "hold") == 0) {
        hold(run);
    } else if (strcmp(word(run, "only"), "rounds") == 0) {
        rounds(run);
    } else if (strcmp(word(run, "only"), "steady") == 0) {
        steady(run);
    } else if (strcmp(word(run, "only"), "frozen") == 0) {
        frozen(run);
    } else if (strcmp(word(run, "only"), "chatter") == 0) {
        chatter(run);
    } else if (strcmp(word(run, "only"), "cut") == 0) {
        cut_headers(run);
    } else if (strcmp(word(run, "only"), "forbidden") == 0) {
        forbidden(run);
    } else if (strcmp(word(run, "only"), "group") == 0) {
        refused_group(run);
    }
    if (word(run, "unroutable") != NULL) {
        struct transport_message bad = make(run, 1, "s-2", "{\"n\":1}");
        bad.destination = str_from(word(run, "unroutable"));
        bad_one(run, "an unroutable message among others", bad, false);
    }
    if (word(run, "large") != NULL) {
        size_t bytes = (size_t)strtoull(word(run, "large"), NULL, 10);
        char *payload = malloc(bytes + 1);
        memset(payload, 'x', bytes);
        payload[0] = payload[bytes - 1] = '"';
        payload[bytes] = '\0';
        bad_one(run, "a message that is too large among others", make(run, 1, "s-2", payload), true);
        free(payload);
    }
    if (word(run, "closed") != NULL)
        refused_open(run, "a broker that is away", word(run, "closed"), NULL, PAWL_UNAVAILABLE);
    if (word(run, "denied") != NULL)
        refused_open(run, "a wrong password", word(run, "denied"), word(run, "ca"), PAWL_INVALID);
    if (word(run, "clear") != NULL)
        refused_open(run, "what comes in the clear before TLS", word(run, "clear"), word(run, "ca"),
                     PAWL_INVALID);
    if (word(run, "tls_wrong") != NULL)
        refused_open(run, "a certificate for another name", word(run, "tls_wrong"), word(run, "ca"),
                     PAWL_INVALID);
}

int main(int argc, char **argv) {
    struct run run = {.config = {.name = "test", .connect_ms = 5000, .confirm_ms = 10000}};
    pawl_error error = {0};
    if (argc < 3 || !read_words(&run, argc, argv)) {
        fprintf(stderr, "usage: conformance MODULE URL [name=value]...\n");
        return 64;
    }
    if (transport_load(argv[1], &run.module, &error) != PAWL_OK) {
        printf("1..0 # SKIP %s\n", error.text);
        return 77;
    }
    run.config.url = argv[2];
    run.config.ca_file = word(&run, "ca");
    run.config.options = run.options;
    run.arena = arena_create(0);
    run_cases(&run);
    arena_free(run.arena);
    printf("1..%d\n", run.cases);
    return run.failures > 0;
}
