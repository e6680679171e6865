/* One evaluation of the alert rules: measure, decide, write. */
#include "work/alerts/round.h"

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"

/* The results of an evaluation, under construction. */
struct draft {
    struct arena *arena;
    pawl_error *err;
    pawl_status status;
    const struct alert_row *row;
    const struct alert_change *change; /* the one whose targets are gone through */
    struct alert_verdict *verdicts;
    size_t verdict_count;
    struct alert_change *changes;
    size_t change_count;
    struct alert_delivery *deliveries;
    size_t delivery_count;
    pawl_outgoing *messages;
    size_t message_count;
};

const char *alert_event_name(enum alert_event event) {
    static const char *const names[] = {"none", "fired", "resolved", "tested"};
    return names[event];
}

const char *alert_severity_name(enum alert_severity severity) {
    return severity == ALERT_CRITICAL ? "critical" : "warning";
}

const char *alert_state_name(const struct alert_row *row, int64_t now_ms) {
    if (!row->rule.enabled && row->state.phase != ALERT_FIRING)
        return "off";
    if (row->state.phase == ALERT_FIRING)
        return row->silence_until_ms > now_ms ? "silenced" : "firing";
    return row->state.turning_ms > 0 ? "pending" : "ok";
}

/* Room for one verdict, one change and every target per rule. */
static pawl_status draft_open(struct draft *draft, size_t rules) {
    size_t targets = rules * PAWL_ALERT_TARGETS_MAX;
    draft->verdicts = arena_array(draft->arena, rules, sizeof *draft->verdicts);
    draft->changes = arena_array(draft->arena, rules, sizeof *draft->changes);
    draft->deliveries = arena_array(draft->arena, targets, sizeof *draft->deliveries);
    draft->messages = arena_array(draft->arena, rules, sizeof *draft->messages);
    if (draft->verdicts == NULL || draft->changes == NULL || draft->deliveries == NULL ||
        draft->messages == NULL)
        return error_no_memory(draft->err, "alerts");
    return PAWL_OK;
}

/* The notification for targets, as JSON. */
static pawl_status write_detail(struct draft *draft, const struct alert_row *row, enum alert_event event,
                                int64_t at_ms, pawl_str *detail) {
    struct buf buf;
    struct json_writer json;
    char at[CLOCK_ISO_BYTES];
    buf_init(&buf, 0);
    json_writer_init(&json, &buf);
    json_begin_object(&json);
    json_put_str(&json, "rule", row->rule.name);
    json_put_str(&json, "event", str_from(alert_event_name(event)));
    json_put_str(&json, "severity", str_from(alert_severity_name(row->rule.severity)));
    json_put_str(&json, "summary", row->rule.summary);
    json_put_str(&json, "metric", row->rule.metric);
    json_put_int(&json, "value", row->state.value);
    json_put_str(&json, "side", row->rule.side == ALERT_ABOVE ? STR("above") : STR("below"));
    json_put_int(&json, "threshold", row->rule.threshold);
    json_put_int(&json, "at_ms", at_ms);
    json_put_str(&json, "at", str_from(clock_format_iso(at_ms, at)));
    json_end_object(&json);
    return str_keep(draft->arena, &buf, "alerts", detail, draft->err);
}

static void add_message(struct draft *draft) {
    const struct alert_change *change = draft->change;
    char *stream = arena_printf(draft->arena, "alert:%.*s", STR_ARG(change->rule));
    char *type = arena_printf(draft->arena, "pawl.alert.%s", alert_event_name(change->event));
    if (stream == NULL || type == NULL) {
        draft->status = error_no_memory(draft->err, "alerts");
        return;
    }
    draft->messages[draft->message_count++] = (pawl_outgoing){
        .id = change->id, .stream = str_from(stream), .type = str_from(type), .payload = change->detail};
}

static bool add_target(void *self, pawl_str name) {
    struct draft *draft = self;
    if (str_equal(name, STR("message")))
        add_message(draft);
    else
        draft->deliveries[draft->delivery_count++] = (struct alert_delivery){draft->change->id, name};
    return draft->status == PAWL_OK;
}

static pawl_status add_change(struct draft *draft, const struct alert_row *row, enum alert_event event,
                              bool tell, int64_t at_ms) {
    struct alert_change change = {.rule = row->rule.name, .event = event, .value = row->state.value};
    pawl_status status = uuid_next(&change.id, draft->err);
    if (status == PAWL_OK)
        status = write_detail(draft, row, event, at_ms, &change.detail);
    if (status != PAWL_OK)
        return status;
    draft->changes[draft->change_count] = change;
    draft->change = &draft->changes[draft->change_count++];
    if (tell)
        alert_targets(row->rule.targets, add_target, draft);
    return draft->status;
}

static struct alert_news draft_news(const struct draft *draft) {
    return (struct alert_news){draft->changes,        draft->change_count, draft->deliveries,
                               draft->delivery_count, draft->messages,     draft->message_count};
}

/* Evaluates every rule with the measured values. */
static pawl_status decide(struct draft *draft, const struct alert_turn *turn,
                          const int64_t values[static METRIC_COUNT], struct alert_round *round) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < turn->rules.count; i++) {
        struct alert_row row = turn->rules.rows[i];
        enum alert_metric metric = alert_metric_find(row.rule.metric);
        /* A metric of a later version: unknown, so nothing changes. */
        if (metric == METRIC_COUNT)
            continue;
        bool silenced = row.silence_until_ms > turn->now_ms;
        struct alert_move move = alert_step(&row.rule, silenced, values[metric], turn->now_ms, &row.state);
        draft->verdicts[draft->verdict_count++] =
            (struct alert_verdict){row.rule.name, row.rule.version, row.state};
        round->firing += row.state.phase == ALERT_FIRING;
        round->changes += move.event != ALERT_NOTHING;
        if (move.event != ALERT_NOTHING)
            status = add_change(draft, &row, move.event, move.tell, turn->now_ms);
    }
    return status;
}

static pawl_status end_turn(struct store *store, const struct alert_turn *turn, const struct draft *draft,
                            const struct alert_window *window, pawl_error *err) {
    struct buf text;
    buf_init(&text, 0);
    alert_window_write(window, &text);
    pawl_status status = buf_status(&text, "alerts", err);
    struct alert_turn_end end = {.token = turn->token,
                                 .window = buf_str(&text),
                                 .verdicts = draft->verdicts,
                                 .verdict_count = draft->verdict_count,
                                 .news = draft_news(draft)};
    if (status == PAWL_OK)
        status = store->ops->alerts->turn_end(store, &end, err);
    buf_free(&text);
    return status;
}

pawl_status alert_round(struct store *store, int64_t interval_ms, struct arena *arena,
                        struct alert_round *out, pawl_error *err) {
    struct alert_turn turn;
    struct alert_totals totals;
    int64_t values[METRIC_COUNT];
    struct draft draft = {.arena = arena, .err = err};
    pawl_status status = store->ops->alerts->turn_take(store, interval_ms, arena, &turn, err);
    if (status != PAWL_OK)
        return status;
    struct alert_round round = {
        .taken = turn.taken, .due = turn.due, .next_in_ms = turn.next_ms - turn.now_ms};
    struct alert_window *window = arena_alloc(arena, sizeof *window);
    if (turn.taken && window == NULL)
        return error_no_memory(err, "alerts");
    if (turn.taken) {
        alert_window_read(window, turn.window);
        alert_measure(&turn.facts, window, values, &totals);
        status = draft_open(&draft, turn.rules.count);
        if (status == PAWL_OK)
            status = decide(&draft, &turn, values, &round);
        if (status == PAWL_OK) {
            alert_window_add(window, &totals);
            status = end_turn(store, &turn, &draft, window, err);
        }
        /* Another process was faster, or a rule changed: the next turn handles it. */
        if (status == PAWL_STALE || status == PAWL_CONFLICT) {
            round.changes = 0;
            status = PAWL_OK;
        }
        round.due = round.due || round.changes > 0;
    }
    if (status == PAWL_OK)
        *out = round;
    return status;
}

pawl_status alert_test(struct store *store, const struct alert_row *row, int64_t now_ms, struct arena *arena,
                       pawl_uuid *id, pawl_error *err) {
    struct draft draft = {.arena = arena, .err = err};
    pawl_status status = draft_open(&draft, 1);
    if (status == PAWL_OK)
        status = add_change(&draft, row, ALERT_TESTED, true, now_ms);
    if (status != PAWL_OK)
        return status;
    struct alert_news news = draft_news(&draft);
    status = store->ops->alerts->tell(store, &news, err);
    if (status == PAWL_OK)
        *id = draft.changes[0].id;
    return status;
}
