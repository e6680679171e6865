/* The history checker: dead letters, and the end of every message. */
#include "sim/history/history_int.h"

static void check_death(struct history *h, int message, const struct message_row *row) {
    const struct history_message *m = &h->messages[message];
    int ended = row->attempts + row->item.deaths;
    if (m->done)
        history_violated(h, "dead_and_done", "message %d is done and a dead letter", message);
    if (row->reason == DEAD_PARKED) {
        if (h->rules.policy != POLICY_PARK)
            history_violated(h, "death", "message %d is parked, but nothing parks here", message);
        return;
    }
    if (row->attempts != m->fails)
        history_violated(h, "attempts", "dead letter %d has %d attempts, %d were applied", message,
                         row->attempts, m->fails);
    int charges = m->charges + (m->granted && m->begins ? 1 : 0);
    if (row->item.deaths > charges)
        history_violated(h, "deaths", "dead letter %d has %d deaths, but began alone and was lost %d times",
                         message, row->item.deaths, charges);
    if (row->reason != DEAD_PERMANENT && ended < h->rules.max_attempts)
        history_violated(h, "death", "message %d died after %d of %d attempts", message, ended,
                         h->rules.max_attempts);
    if (m->innocent && row->reason != DEAD_KILLED)
        history_violated(h, "death", "message %d never fails and died of reason %d", message, row->reason);
}

void history_dead_seen(struct history *h, const struct message_rows *rows, int (*number)(pawl_uuid id)) {
    for (size_t i = 0; i < h->message_count; i++)
        h->messages[i].parked = false;
    size_t seen = 0;
    for (size_t i = 0; i < rows->count; i++) {
        int message = number(rows->rows[i].item.id);
        struct history_message *m = &h->messages[message];
        check_death(h, message, &rows->rows[i]);
        m->parked = rows->rows[i].reason == DEAD_PARKED;
        if (!m->dead) {
            m->dead = true;
            h->open--;
            m->losses += m->granted;
            m->charges += m->granted && m->begins;
            m->granted = false;
        }
    }
    for (size_t i = 0; i < h->message_count; i++)
        seen += h->messages[i].dead;
    if (seen != rows->count)
        history_violated(h, "dead_lost", "%zu dead letters were seen, the store has %zu", seen, rows->count);
}

static void revive(struct history *h, int message) {
    struct history_message *m = &h->messages[message];
    if (m->dead)
        h->open++;
    m->dead = m->parked = m->granted = false;
    m->fails = m->losses = m->charges = m->kills = m->deaths = 0;
    h->redriven++;
}

/* What was parked behind it comes back as well. */
static void revive_parked(struct history *h, const struct history_message *m) {
    const struct history_stream *s = history_stream_of(h, m);
    for (size_t i = 0; s != NULL && i < s->count; i++) {
        if (h->messages[s->messages[i]].parked)
            revive(h, s->messages[i]);
    }
}

void history_redriven(struct history *h, int message, int64_t now_ms) {
    revive(h, message);
    if (h->rules.policy == POLICY_SKIP) {
        h->messages[message].loose = true;
        return;
    }
    revive_parked(h, &h->messages[message]);
    history_set_aside_behind(h, message, 0, now_ms);
}

void history_discarded(struct history *h, int message) {
    struct history_message *m = &h->messages[message];
    if (!m->dead)
        h->open--;
    m->dead = m->parked = false;
    m->discarded = true;
    revive_parked(h, m);
}

void history_end(struct history *h, const struct message_rows *rows, int (*number)(pawl_uuid id),
                 bool innocents_live) {
    size_t dead = 0, held = 0;
    for (size_t i = 0; i < rows->count; i++) {
        int message = number(rows->rows[i].item.id);
        held += rows->rows[i].state == STATE_DEAD;
        if (rows->rows[i].state != STATE_DEAD)
            history_violated(h, "ended", "message %d is still there, in state %d", message,
                             (int)rows->rows[i].state);
    }
    for (size_t i = 0; i < h->message_count; i++) {
        const struct history_message *m = &h->messages[i];
        dead += m->dead;
        if (m->applied && m->done + m->dead + m->discarded != 1)
            history_violated(h, "lost", "message %zu was accepted and is neither done nor a dead letter", i);
        if (m->innocent && m->dead && !m->parked && innocents_live)
            history_violated(h, "innocent", "message %zu never fails and is a dead letter", i);
    }
    if (dead != held)
        history_violated(h, "dead_lost", "%zu dead letters were seen, the store has %zu", dead, held);
}
