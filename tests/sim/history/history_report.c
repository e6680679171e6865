/* The history checker: what was reported and what the store made of it. */
#include <inttypes.h>

#include "base/limits.h"
#include "sim/history/history_int.h"
#include "sim/world/alloc.h"

static void run_add(struct history *h, struct history_run run) {
    struct history_message *m = &h->messages[run.message];
    h->runs = sim_grow(h->runs, &h->run_capacity, h->run_count + 1, sizeof(*h->runs));
    run.next = m->runs;
    h->runs[h->run_count] = run;
    m->runs = (int)h->run_count++;
}

/* NULL: there is none. */
static const struct history_run *run_find(const struct history *h, int message, int64_t token,
                                          bool with_effect) {
    for (int i = h->messages[message].runs; i >= 0; i = h->runs[i].next) {
        const struct history_run *run = &h->runs[i];
        if (run->token == token && !run->reported && (!with_effect || run->effect))
            return run;
    }
    return NULL;
}

static bool reported_before(const struct history *h, int message, int64_t token) {
    for (int i = h->messages[message].runs; i >= 0; i = h->runs[i].next) {
        if (h->runs[i].token == token && h->runs[i].reported)
            return true;
    }
    return false;
}

/* Whether an earlier message of the stream leaves the way free for the later ones. */
static bool out_of_the_way(struct history *h, int message) {
    const struct history_message *m = &h->messages[message];
    if (m->done || m->discarded)
        return true;
    if (h->rules.policy != POLICY_SKIP)
        return false;
    return m->loose || m->dead || h->is_dead(h->self, message);
}

/* What every report has in common. True: it was applied, and rightly. */
static bool report_counts(struct history *h, int message, int64_t token, enum store_answer answer,
                          int64_t now_ms) {
    struct history_message *m = &h->messages[message];
    bool held = m->granted && m->token == token;
    switch (answer) {
    case ANSWER_APPLIED:
        if (!held) {
            history_violated(h, "stale_accepted",
                             "a report of message %d under %" PRId64 " was applied; in force is %" PRId64,
                             message, token, m->granted ? m->token : 0);
            return false;
        }
        run_add(h, (struct history_run){.message = message, .token = token, .reported = true});
        return true;
    case ANSWER_STALE:
        h->stale_refused++;
        if (held && !history_grant_over(h, m, now_ms))
            history_violated(h, "living_refused", "message %d: token %" PRId64 " is in force and was refused",
                             message, token);
        return false;
    case ANSWER_DUPLICATE:
        h->duplicates++;
        if (!reported_before(h, message, token))
            history_violated(h, "false_duplicate", "message %d was never reported under %" PRId64, message,
                             token);
        return false;
    case ANSWER_CONFLICT:
        h->conflicts++;
        return false;
    default:
        history_violated(h, "answer", "a report of message %d was answered %d", message, (int)answer);
        return false;
    }
}

static void check_order(struct history *h, int message, int64_t token) {
    struct history_stream *s = history_stream_of(h, &h->messages[message]);
    if (s == NULL)
        return;
    for (size_t i = s->first_open; (int)i < h->messages[message].position; i++) {
        if (!out_of_the_way(h, s->messages[i]))
            history_violated(h, "order", "message %d was completed before message %d of its stream", message,
                             s->messages[i]);
    }
    if (token < s->accepted_token || token < s->granted_token)
        history_violated(h, "token_back",
                         "message %d was completed under %" PRId64 " after %" PRId64 " was given", message,
                         token, s->granted_token);
    s->accepted_token = token;
}

static void stream_advance(struct history *h, struct history_stream *s) {
    while (s != NULL && s->first_open < s->count) {
        const struct history_message *m = &h->messages[s->messages[s->first_open]];
        if (!m->done && !m->discarded)
            return;
        s->first_open++;
    }
}

void history_completed(struct history *h, int message, int64_t token, enum store_answer answer,
                       int64_t now_ms) {
    struct history_message *m = &h->messages[message];
    if (answer == ANSWER_APPLIED && m->done)
        history_violated(h, "completed_twice", "message %d", message);
    if (!report_counts(h, message, token, answer, now_ms))
        return;
    if (run_find(h, message, token, true) == NULL)
        history_violated(h, "no_effect", "message %d was completed under %" PRId64 " without an effect",
                         message, token);
    if (m->dead)
        history_violated(h, "dead_and_done", "message %d was completed as a dead letter", message);
    check_order(h, message, token);
    m->done = true;
    m->granted = false;
    h->open--;
    h->accepted++;
    stream_advance(h, history_stream_of(h, m));
}

void history_failed(struct history *h, int message, int64_t token, enum store_answer answer,
                    enum fail_outcome outcome, bool permanent, int64_t now_ms) {
    struct history_message *m = &h->messages[message];
    const struct history_stream *s = history_stream_of(h, m);
    for (size_t i = (size_t)m->position + 1; answer == ANSWER_DUPLICATE && s != NULL && i < s->count; i++)
        h->messages[s->messages[i]].excused = true;
    if (!report_counts(h, message, token, answer, now_ms))
        return;
    if (run_find(h, message, token, false) == NULL)
        history_violated(h, "no_effect", "message %d failed under %" PRId64 " without a run", message, token);
    m->granted = false;
    m->fails++;
    bool dies = permanent || m->fails + m->deaths >= h->rules.max_attempts;
    if (dies != (outcome == FAIL_DEAD))
        history_violated(h, "death", "message %d: %d failures, %d deaths of at most %d%s, and it is %s",
                         message, m->fails, m->deaths, h->rules.max_attempts, permanent ? ", permanent" : "",
                         outcome == FAIL_DEAD ? "dead" : "not dead");
    if (outcome == FAIL_DEAD && !m->dead) {
        m->dead = true;
        h->open--;
    }
    if (outcome != FAIL_DEAD || h->rules.policy != POLICY_SKIP)
        history_set_aside_behind(h, message, 0, now_ms);
}

void history_released(struct history *h, int message, int64_t token, enum store_answer answer,
                      int64_t now_ms) {
    if (!report_counts(h, message, token, answer, now_ms))
        return;
    h->messages[message].granted = false;
    history_set_aside_behind(h, message, token, now_ms);
}

static bool is_known(const struct grants_settle *known, const struct history_message *m) {
    for (size_t i = 0; i < known->count; i++) {
        if (known->held[i].token == m->token && known->held[i].number == m->seq)
            return true;
    }
    return false;
}

/* Whether what is ahead of it in the same hands is there and has not begun: it may be on its way back, and
 * its worker forgets what is behind it before the store has heard of it. */
static bool behind_unbegun(struct history *h, const struct history_message *m,
                           const struct grants_settle *known) {
    const struct history_stream *s = history_stream_of(h, m);
    for (size_t i = s != NULL ? s->first_open : 0; s != NULL && (int)i < m->position; i++) {
        const struct history_message *e = &h->messages[s->messages[i]];
        if (e->granted && e->token == m->token && is_known(known, e) &&
            run_find(h, s->messages[i], m->token, false) == NULL)
            return true;
    }
    return false;
}

/* As if it had released them. A grant that is over may have been taken back before: its next grant tells. */
void history_settled(struct history *h, int instance, const struct grants_settle *known, int64_t now_ms) {
    for (size_t i = 0; i < h->message_count; i++) {
        struct history_message *m = &h->messages[i];
        if (!m->granted || m->instance != instance || m->token > known->settled || is_known(known, m) ||
            history_grant_over(h, m, now_ms))
            continue;
        if (h->instances[instance].watched && !m->excused && !behind_unbegun(h, m, known))
            history_violated(h, "unknown_grant",
                             "message %d was given to instance %d, which lives and does not know of it",
                             (int)i, instance);
        run_add(h, (struct history_run){.message = (int)i, .token = m->token, .reported = true});
        m->granted = false;
        history_set_aside_behind(h, (int)i, m->token, now_ms);
    }
}

/* Nothing begins when its lease, or its instance's, is over or nearly so, seen from the store's clock. */
static void check_fence(struct history *h, int message, int64_t token, int64_t now_ms) {
    const struct history_message *m = &h->messages[message];
    int64_t margin_ms = h->rules.lease_ms / 20 > 10 ? h->rules.lease_ms / 20 : 10;
    int64_t instance_margin_ms = h->rules.instance_lease_ms / 20 > 10 ? h->rules.instance_lease_ms / 20 : 10;
    if (!m->granted || m->token != token)
        history_violated(h, "fence", "message %d begins under %" PRId64 ", which is over", message, token);
    else if (now_ms >= m->lease_until_ms - margin_ms)
        history_violated(h, "fence", "message %d begins %" PRId64 " ms before its lease ends", message,
                         m->lease_until_ms - now_ms);
    else if (now_ms >= h->instances[m->instance].lease_until_ms - instance_margin_ms)
        history_violated(h, "fence", "message %d begins %" PRId64 " ms before its instance's lease ends",
                         message, h->instances[m->instance].lease_until_ms - now_ms);
}

/* Everything before it in its stream is out of the way, or was done just now under the same token. */
static void check_turn(struct history *h, int message, int64_t token) {
    struct history_stream *s = history_stream_of(h, &h->messages[message]);
    for (size_t i = s->first_open; (int)i < h->messages[message].position; i++) {
        int earlier = s->messages[i];
        for (int j = h->messages[earlier].runs; j >= 0; j = h->runs[j].next) {
            if (h->runs[j].running && h->runs[j].token >= token)
                history_violated(h, "concurrent", "message %d begins while message %d of its stream runs",
                                 message, earlier);
        }
        if (run_find(h, earlier, token, true) == NULL && !out_of_the_way(h, earlier))
            history_violated(h, "turn", "message %d begins before message %d of its stream", message,
                             earlier);
    }
}

int history_began(struct history *h, int message, int64_t token, int instance, int64_t now_ms) {
    const struct history_message *m = &h->messages[message];
    for (int i = m->runs; i >= 0; i = h->runs[i].next) {
        const struct history_run *run = &h->runs[i];
        if (run->token == token && !run->reported)
            history_violated(h, "ran_twice", "message %d runs again under %" PRId64, message, token);
        if (run->running && run->token > token && !h->instances[instance].evicted)
            history_violated(h, "concurrent", "message %d begins under %" PRId64 " while a newer one runs",
                             message, token);
    }
    /* Whom an operator evicted cannot know it yet: its effects are set aside, not forbidden. */
    if (!h->instances[instance].evicted) {
        check_fence(h, message, token, now_ms);
        if (m->stream >= 0)
            check_turn(h, message, token);
    }
    run_add(h, (struct history_run){.message = message, .token = token, .running = true});
    return (int)h->run_count - 1;
}

void history_effect(struct history *h, int run) {
    const struct history_message *m = &h->messages[h->runs[run].message];
    const struct history_stream *s = history_stream_of(h, m);
    h->runs[run].effect = true;
    h->effects++;
    if (h->runs[run].token < m->token || (s != NULL && h->runs[run].token < s->granted_token))
        h->zombie_effects++;
}

void history_snoozed(struct history *h, int message) {
    const struct history_message *m = &h->messages[message];
    const struct history_stream *s = history_stream_of(h, m);
    for (size_t i = (size_t)m->position + 1; s != NULL && i < s->count; i++)
        h->messages[s->messages[i]].excused = true;
}

void history_ended(struct history *h, int run) { h->runs[run].running = false; }

/* It kills once in the crowd, at most once more among what was lost with it, and then alone. */
void history_killed(struct history *h, int message) {
    struct history_message *m = &h->messages[message];
    int limit = h->rules.max_attempts + PAWL_SUSPECT_LOSSES;
    if (++m->kills > limit)
        history_violated(h, "poison", "message %d has killed %d workers, the limit is %d", message, m->kills,
                         limit);
}
