/* The history checker: its records, and what the store says about grants. */
#include "sim/history/history.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/history/history_int.h"
#include "sim/world/alloc.h"

void history_init(struct history *h, const struct history_rules *rules, size_t stream_count) {
    *h = (struct history){.rules = *rules, .stream_count = stream_count};
    h->streams = sim_alloc(stream_count * sizeof(*h->streams));
}

void history_free(struct history *h) {
    for (size_t i = 0; i < h->stream_count; i++)
        free(h->streams[i].messages);
    free(h->streams);
    free(h->messages);
    free(h->instances);
    free(h->runs);
    *h = (struct history){0};
}

void history_violated(struct history *h, const char *rule, const char *fmt, ...) {
    if (h->violated)
        return;
    h->violated = true;
    h->rule = rule;
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(h->text, sizeof(h->text), fmt, args);
    va_end(args);
}

int history_message_new(struct history *h, enum store_kind kind, int stream, bool innocent) {
    h->messages = sim_grow(h->messages, &h->message_capacity, h->message_count + 1, sizeof(*h->messages));
    h->messages[h->message_count] =
        (struct history_message){.kind = kind, .stream = stream, .innocent = innocent, .runs = -1};
    return (int)h->message_count++;
}

int history_instance_new(struct history *h) {
    h->instances =
        sim_grow(h->instances, &h->instance_capacity, h->instance_count + 1, sizeof(*h->instances));
    h->instances[h->instance_count] = (struct history_instance){0};
    return (int)h->instance_count++;
}

struct history_stream *history_stream_of(struct history *h, const struct history_message *m) {
    return m->stream >= 0 ? &h->streams[m->stream] : NULL;
}

void history_put(struct history *h, int message, enum store_answer answer) {
    struct history_message *m = &h->messages[message];
    if (answer != ANSWER_APPLIED) {
        if (answer != ANSWER_DUPLICATE)
            history_violated(h, "put", "message %d was answered %d", message, (int)answer);
        else if (!m->applied)
            history_violated(h, "put", "message %d is a duplicate of nothing", message);
        return;
    }
    if (m->applied) {
        history_violated(h, "put_once", "message %d was put twice", message);
        return;
    }
    m->applied = true;
    h->open++;
    struct history_stream *s = history_stream_of(h, m);
    if (s == NULL)
        return;
    s->messages = sim_grow(s->messages, &s->capacity, s->count + 1, sizeof(*s->messages));
    m->position = (int)s->count;
    s->messages[s->count++] = message;
}

void history_instance_lease(struct history *h, int instance, int64_t lease_until_ms) {
    struct history_instance *i = &h->instances[instance];
    if (i->left)
        history_violated(h, "instance_gone", "instance %d left and was accepted again", instance);
    if (lease_until_ms > i->lease_until_ms)
        i->lease_until_ms = lease_until_ms;
}

void history_instance_heard(struct history *h, int instance, int64_t now_ms) {
    struct history_instance *i = &h->instances[instance];
    if (i->lease_until_ms > 0 && i->lease_until_ms <= now_ms)
        i->revived_ms = now_ms;
}

void history_call_begins(struct history *h) { h->token_max_before = h->token_max; }

static bool lease_over(const struct history *h, const struct history_message *m, int64_t now_ms) {
    const struct history_instance *i = &h->instances[m->instance];
    return m->lease_until_ms <= now_ms || i->lease_until_ms <= now_ms || i->evicted;
}

/* Whether an earlier message of the stream was lost in the same hands. */
static bool behind_lost(struct history *h, const struct history_message *m, int64_t now_ms) {
    const struct history_stream *s = history_stream_of(h, m);
    for (size_t i = s != NULL ? s->first_open : 0; s != NULL && (int)i < m->position; i++) {
        const struct history_message *e = &h->messages[s->messages[i]];
        if (e->granted && !e->done && lease_over(h, e, now_ms))
            return true;
    }
    return false;
}

/* Whether the holder may no longer count on what it was given: its lease or its instance's is over, it left,
 * or an earlier message of the stream was lost under it. */
bool history_grant_over(struct history *h, const struct history_message *m, int64_t now_ms) {
    return !m->granted || lease_over(h, m, now_ms) || h->instances[m->instance].left ||
           behind_lost(h, m, now_ms);
}

/* The grant ended without a report: a death, unless its holder left in good order. What was in the same hands
 * behind a lost message dies with it, whatever is left of its own lease. */
static void lose(struct history *h, int message, int64_t now_ms, bool behind_lost) {
    struct history_message *m = &h->messages[message];
    if (!m->granted)
        return;
    m->granted = false;
    bool over = lease_over(h, m, now_ms);
    if (!over && !behind_lost)
        return;
    m->losses++;
    m->charges += m->begins;
    h->losses++;
    if (over && h->instances[m->instance].watched)
        history_violated(h, "lost_grant",
                         "message %d was given to instance %d, which lives and was not disturbed", message,
                         m->instance);
}

/* What it held is given back without a death, unless it had been taken away before: itself, or with an
 * earlier message of its stream, which is why the later ones come first. */
void history_instance_left(struct history *h, int instance, int64_t now_ms) {
    for (size_t i = h->message_count; i-- > 0;) {
        if (h->messages[i].instance == instance)
            lose(h, (int)i, now_ms, history_grant_over(h, &h->messages[i], now_ms));
    }
    h->instances[instance].left = true;
}

/* The last first: what became of a message depends on those before it. */
static void take_behind(struct history *h, int message, int64_t token, int64_t now_ms, bool lost) {
    const struct history_message *m = &h->messages[message];
    struct history_stream *s = history_stream_of(h, m);
    for (size_t i = s != NULL ? s->count : 0; i-- > (size_t)m->position + 1;) {
        const struct history_message *later = &h->messages[s->messages[i]];
        bool with_it = lost || (!h->instances[later->instance].left && behind_lost(h, later, now_ms));
        if (token == 0 || later->token == token)
            lose(h, s->messages[i], now_ms, with_it);
    }
}

/* The later messages of the stream are no longer with the worker that held them. token 0 = under any token.
 */
void history_set_aside_behind(struct history *h, int message, int64_t token, int64_t now_ms) {
    take_behind(h, message, token, now_ms, false);
}

static void check_attempt(struct history *h, int message, const struct item *item) {
    const struct history_message *m = &h->messages[message];
    if (item->attempt != 1 + m->fails + item->deaths)
        history_violated(h, "attempts", "message %d: attempt %d after %d failures and %d deaths", message,
                         item->attempt, m->fails, item->deaths);
    if (item->deaths > m->charges)
        history_violated(h, "deaths", "message %d has %d deaths, but began alone and was lost only %d times",
                         message, item->deaths, m->charges);
    if (item->suspect && m->losses == 0)
        history_violated(h, "suspect", "message %d is a suspect, but was never lost", message);
    if (item->attempt > h->rules.max_attempts)
        history_violated(h, "max_attempts", "message %d is given out for attempt %d of %d", message,
                         item->attempt, h->rules.max_attempts);
}

/* No other message of the stream may be in flight under another token. */
static void check_alone(struct history *h, int message, int64_t token, int64_t now_ms) {
    struct history_stream *s = history_stream_of(h, &h->messages[message]);
    for (size_t i = s->first_open; i < s->count; i++) {
        const struct history_message *other = &h->messages[s->messages[i]];
        if (other->token != token && !other->done && !history_grant_over(h, other, now_ms))
            history_violated(h, "one_token",
                             "message %d is given out under %" PRId64 " while %d is in flight under %" PRId64,
                             message, token, s->messages[i], other->token);
    }
}

static void check_token(struct history *h, int message, int64_t token, int instance) {
    struct history_stream *s = history_stream_of(h, &h->messages[message]);
    if (token <= h->token_max_before)
        history_violated(h, "token_grows", "message %d: token %" PRId64 " is not new (%" PRId64 " was given)",
                         message, token, h->token_max_before);
    if (token > h->token_max)
        h->token_max = token;
    if (s == NULL)
        return;
    if (token == s->granted_token && instance != s->token_instance)
        history_violated(h, "token_unique", "token %" PRId64 " was given to two instances", token);
    s->granted_token = token;
    s->token_instance = instance;
}

void history_granted(struct history *h, int message, const struct item *item, int instance, int64_t now_ms) {
    struct history_message *m = &h->messages[message];
    if (!m->applied || m->done || m->discarded || m->dead) {
        history_violated(h, "granted_ended", "message %d is given out, but it is %s", message,
                         !m->applied ? "not put"
                         : m->done   ? "done"
                         : m->dead   ? "dead"
                                     : "discarded");
        return;
    }
    if (m->granted && m->token == item->token) {
        if (m->instance != instance)
            history_violated(h, "token_unique", "message %d: token %" PRId64 " was given to two instances",
                             message, item->token);
        return; /* a repeated request is answered again */
    }
    if (!history_grant_over(h, m, now_ms))
        history_violated(h, "taken_from_living",
                         "message %d is given out under %" PRId64 " while %" PRId64 " is in force", message,
                         item->token, m->token);
    if (m->granted) {
        bool left = h->instances[m->instance].left;
        lose(h, message, now_ms, false);
        take_behind(h, message, 0, now_ms, !left);
    }
    check_attempt(h, message, item);
    check_token(h, message, item->token, instance);
    if (m->stream >= 0)
        check_alone(h, message, item->token, now_ms);
    m->granted = true;
    m->token = item->token;
    m->instance = instance;
    m->lease_until_ms = item->lease_until_ms;
    m->seq = item->seq;
    m->deaths = item->deaths;
    m->suspect = item->suspect;
    m->begins = false;
}

void history_renewed(struct history *h, int instance, int64_t token, int message, enum store_answer answer,
                     int64_t now_ms) {
    if (answer != ANSWER_APPLIED)
        return;
    bool any = false;
    for (size_t i = 0; i < h->message_count; i++) {
        struct history_message *m = &h->messages[i];
        if (!m->granted || m->token != token || m->instance != instance ||
            (message >= 0 && (int)i != message))
            continue;
        any = true;
        m->begins = m->suspect;
        /* A lease that was over may have been taken back already, or not: only the store knows. */
        if (message >= 0 || !lease_over(h, m, now_ms))
            m->lease_until_ms = now_ms + h->rules.lease_ms;
    }
    if (!any)
        history_violated(h, "stale_accepted", "token %" PRId64 " of instance %d was renewed, but it is over",
                         token, instance);
}
