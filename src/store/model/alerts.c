/* Alerts: rules, turns, what changed, and what has to be delivered. */
#include "store/model/alerts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/model/put.h"

enum { NOTICE_WAITING = 1, NOTICE_DELIVERED, NOTICE_GIVEN_UP };

struct notice {
    int64_t number, token, due_ms;
    pawl_uuid change;
    pawl_str target, error;
    int state, attempts;
};

struct model_alerts {
    struct alert_row rules[PAWL_ALERT_RULES_MAX];
    size_t rule_count;
    int64_t token, next_ms;
    pawl_str window;
    struct alert_change *changes; /* oldest first */
    size_t change_count, change_cap;
    struct notice *notices;
    size_t notice_count, notice_cap;
    int64_t change_last, notice_last;
};

static struct alert_rule own_rule(const struct alert_rule *in) {
    struct alert_rule rule = *in;
    rule.name = model_text(in->name);
    rule.metric = model_text(in->metric);
    rule.summary = model_text(in->summary);
    rule.targets = model_text(str_absent(in->targets) ? STR("") : in->targets);
    return rule;
}

static void free_rule(struct alert_rule *rule) {
    model_text_free(rule->name);
    model_text_free(rule->metric);
    model_text_free(rule->summary);
    model_text_free(rule->targets);
}

static struct model_alerts *alerts_of(struct model *model) {
    if (model->alerts != NULL)
        return model->alerts;
    struct model_alerts *made = model_alloc(sizeof *made);
    made->window = model_text(STR(""));
    for (size_t i = 0; i < alert_defaults_count; i++) {
        struct alert_row *row = &made->rules[made->rule_count++];
        *row = (struct alert_row){.rule = own_rule(&alert_defaults[i]), .state = {.phase = ALERT_OK}};
        row->rule.version = 1;
    }
    model->alerts = made;
    return made;
}

static void free_row(struct alert_row *row) {
    free_rule(&row->rule);
    model_text_free(row->silence_reason);
    model_text_free(row->silence_by);
}

static void free_change(struct alert_change *change) {
    model_text_free(change->rule);
    model_text_free(change->detail);
}

static void free_notice(struct notice *notice) {
    model_text_free(notice->target);
    model_text_free(notice->error);
}

void model_alerts_free(struct model *model) {
    struct model_alerts *alerts = model->alerts;
    if (alerts == NULL)
        return;
    for (size_t i = 0; i < alerts->rule_count; i++)
        free_row(&alerts->rules[i]);
    for (size_t i = 0; i < alerts->change_count; i++)
        free_change(&alerts->changes[i]);
    for (size_t i = 0; i < alerts->notice_count; i++)
        free_notice(&alerts->notices[i]);
    model_text_free(alerts->window);
    free(alerts->changes);
    free(alerts->notices);
    free(alerts);
}

static pawl_str copied(struct arena *arena, pawl_str text, bool *failed) {
    pawl_str copy = {NULL, 0};
    if (str_dup(arena, text, &copy, NULL) != PAWL_OK)
        *failed = true;
    return copy;
}

static pawl_status no_memory(pawl_error *err) {
    return error_set(err, PAWL_NO_MEMORY, "alerts", "out of memory");
}

static pawl_status no_rule(pawl_str name, pawl_error *err) {
    return error_set(err, PAWL_NOT_FOUND, "alerts", "there is no rule %.*s", STR_ARG(name));
}

/* ---- Rules */

static struct alert_row *find_rule(struct model_alerts *alerts, pawl_str name) {
    for (size_t i = 0; i < alerts->rule_count; i++) {
        if (str_equal(alerts->rules[i].rule.name, name))
            return &alerts->rules[i];
    }
    return NULL;
}

static pawl_status copy_rules(struct model *model, pawl_str name, struct arena *arena, struct alert_rows *out,
                              pawl_error *err) {
    struct model_alerts *alerts = alerts_of(model);
    struct alert_row *rows = arena_array(arena, alerts->rule_count, sizeof *rows);
    bool failed = rows == NULL;
    size_t count = 0;
    for (size_t i = 0; !failed && i < alerts->rule_count; i++) {
        struct alert_row row = alerts->rules[i];
        if (!str_absent(name) && !str_equal(row.rule.name, name))
            continue;
        row.rule.name = copied(arena, row.rule.name, &failed);
        row.rule.metric = copied(arena, row.rule.metric, &failed);
        row.rule.summary = copied(arena, row.rule.summary, &failed);
        row.rule.targets = copied(arena, row.rule.targets, &failed);
        row.silence_reason = copied(arena, row.silence_reason, &failed);
        row.silence_by = copied(arena, row.silence_by, &failed);
        rows[count++] = row;
    }
    if (failed)
        return no_memory(err);
    *out = (struct alert_rows){rows, count, model->now_ms};
    return PAWL_OK;
}

static pawl_status rules(struct store *store, pawl_str name, struct arena *arena, struct alert_rows *out,
                         pawl_error *err) {
    struct model *model = model_enter(store);
    return model_leave(model, copy_rules(model, name, arena, out, err));
}

static int rule_order(const void *a, const void *b) {
    return str_compare(((const struct alert_row *)a)->rule.name, ((const struct alert_row *)b)->rule.name);
}

static pawl_status put_rule(struct model *model, const struct alert_rule *in, int64_t *version,
                            pawl_error *err) {
    struct model_alerts *alerts = alerts_of(model);
    struct alert_row *row = find_rule(alerts, in->name);
    int64_t have = row != NULL ? row->rule.version : 0;
    if (in->version != 0 && in->version != have)
        return error_set(err, PAWL_CONFLICT, "alert_rule_put", "the rule has another version; read it again");
    if (row == NULL && alerts->rule_count == PAWL_ALERT_RULES_MAX)
        return error_set(err, PAWL_CONFLICT, "alert_rule_put",
                         "there are as many rules as there may be; remove one");
    struct alert_rule rule = own_rule(in);
    rule.version = *version = have + 1;
    rule.updated_ms = model->now_ms;
    if (row != NULL) {
        free_rule(&row->rule);
        row->rule = rule;
        return PAWL_OK;
    }
    alerts->rules[alerts->rule_count++] = (struct alert_row){.rule = rule, .state = {.phase = ALERT_OK}};
    qsort(alerts->rules, alerts->rule_count, sizeof *alerts->rules, rule_order);
    return PAWL_OK;
}

static pawl_status rule_put(struct store *store, const struct alert_rule *in, int64_t *version,
                            pawl_error *err) {
    pawl_status status = alert_rule_check(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    return model_leave(model, put_rule(model, in, version, err));
}

static pawl_status rule_remove(struct store *store, pawl_str name, pawl_error *err) {
    struct model *model = model_enter(store);
    struct model_alerts *alerts = alerts_of(model);
    struct alert_row *row = find_rule(alerts, name);
    if (row == NULL)
        return model_leave(model, no_rule(name, err));
    free_row(row);
    size_t behind = (size_t)(&alerts->rules[--alerts->rule_count] - row);
    memmove(row, row + 1, behind * sizeof *row);
    return model_leave(model, PAWL_OK);
}

static pawl_status silence(struct store *store, const struct alert_silence *in, pawl_error *err) {
    pawl_status status = check_alert_silence(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct alert_row *row = find_rule(alerts_of(model), in->name);
    if (row == NULL)
        return model_leave(model, no_rule(in->name, err));
    model_text_free(row->silence_reason);
    model_text_free(row->silence_by);
    row->silence_until_ms = in->until_ms;
    row->silence_reason = model_text(in->reason);
    row->silence_by = model_text(in->actor);
    return model_leave(model, PAWL_OK);
}

/* ---- Turns */

static pawl_status turn_take(struct store *store, int64_t interval_ms, struct arena *arena,
                             struct alert_turn *out, pawl_error *err) {
    pawl_status status = check_alert_interval(interval_ms, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct model_alerts *alerts = alerts_of(model);
    bool failed = false;
    struct alert_turn turn = {.now_ms = model->now_ms, .next_ms = alerts->next_ms};
    /* A clock that was set back, or somebody with a longer interval, does not stop the evaluation. */
    turn.taken = alerts->next_ms <= model->now_ms || alerts->next_ms > model->now_ms + 2 * interval_ms;
    turn.window = copied(arena, alerts->window, &failed);
    if (failed)
        return model_leave(model, no_memory(err));
    if (turn.taken) {
        status = copy_rules(model, (pawl_str){NULL, 0}, arena, &turn.rules, err);
        if (status != PAWL_OK)
            return model_leave(model, status);
        turn.token = alerts->token = model_token_next(model);
        turn.next_ms = alerts->next_ms = model->now_ms + interval_ms;
    }
    *out = turn;
    return model_leave(model, PAWL_OK);
}

static void forget(struct model *model, struct model_alerts *alerts) {
    size_t old = 0, kept = 0;
    while (old < alerts->change_count && alerts->changes[old].at_ms < model->now_ms - PAWL_ALERT_KEEP_MS)
        old++;
    for (size_t i = 0; old > 0 && i < alerts->notice_count; i++) {
        bool gone = false;
        for (size_t j = 0; j < old; j++)
            gone = gone || uuid_equal(alerts->notices[i].change, alerts->changes[j].id);
        if (gone)
            free_notice(&alerts->notices[i]);
        else
            alerts->notices[kept++] = alerts->notices[i];
    }
    if (old == 0)
        return;
    alerts->notice_count = kept;
    for (size_t i = 0; i < old; i++)
        free_change(&alerts->changes[i]);
    alerts->change_count -= old;
    memmove(alerts->changes, alerts->changes + old, alerts->change_count * sizeof *alerts->changes);
}

static void write_news(struct model *model, const struct alert_news *news, struct put_plan *plan) {
    struct model_alerts *alerts = alerts_of(model);
    for (size_t i = 0; i < news->change_count; i++) {
        alerts->changes = model_grow(alerts->changes, &alerts->change_cap, alerts->change_count + 1,
                                     sizeof *alerts->changes);
        struct alert_change *change = &alerts->changes[alerts->change_count++];
        *change = news->changes[i];
        change->number = ++alerts->change_last;
        change->at_ms = model->now_ms;
        change->rule = model_text(news->changes[i].rule);
        change->detail = model_text(news->changes[i].detail);
    }
    for (size_t i = 0; i < news->delivery_count; i++) {
        alerts->notices = model_grow(alerts->notices, &alerts->notice_cap, alerts->notice_count + 1,
                                     sizeof *alerts->notices);
        alerts->notices[alerts->notice_count++] =
            (struct notice){.number = ++alerts->notice_last,
                            .due_ms = model->now_ms,
                            .change = news->deliveries[i].change,
                            .target = model_text(news->deliveries[i].target),
                            .state = NOTICE_WAITING};
    }
    if (news->message_count > 0) {
        struct messages_put put = alert_put(news);
        model_put_apply(model, &put, false, plan);
    }
}

/* What the messages of the news need, before anything is changed; the arena goes with the call. */
static pawl_status plan_news(const struct alert_news *news, struct arena **arena, struct put_plan *plan,
                             pawl_error *err) {
    struct messages_put put = alert_put(news);
    pawl_status status = check_alert_news(news, err);
    if (status != PAWL_OK)
        return status;
    *arena = arena_create(0);
    if (*arena == NULL)
        return no_memory(err);
    return news->message_count > 0 ? model_put_prepare(&put, *arena, plan, err) : PAWL_OK;
}

static pawl_status end_turn(struct model *model, const struct alert_turn_end *in, struct put_plan *plan,
                            pawl_error *err) {
    struct model_alerts *alerts = alerts_of(model);
    if (alerts->token != in->token)
        return error_set(err, PAWL_STALE, "alert_turn_end", "another turn was given meanwhile");
    for (size_t i = 0; i < in->verdict_count; i++) {
        const struct alert_row *row = find_rule(alerts, in->verdicts[i].rule);
        if (row == NULL || row->rule.version != in->verdicts[i].version)
            return error_set(err, PAWL_CONFLICT, "alert_turn_end",
                             "a rule was changed while it was evaluated");
    }
    for (size_t i = 0; i < in->verdict_count; i++)
        find_rule(alerts, in->verdicts[i].rule)->state = in->verdicts[i].state;
    model_text_free(alerts->window);
    alerts->window = model_text(str_absent(in->window) ? STR("") : in->window);
    forget(model, alerts);
    write_news(model, &in->news, plan);
    return PAWL_OK;
}

static pawl_status turn_end(struct store *store, const struct alert_turn_end *in, pawl_error *err) {
    struct arena *arena = NULL;
    struct put_plan plan = {0};
    pawl_status status = plan_news(&in->news, &arena, &plan, err);
    if (status == PAWL_OK) {
        struct model *model = model_enter(store);
        status = model_leave(model, end_turn(model, in, &plan, err));
    }
    arena_free(arena);
    return status;
}

static pawl_status tell(struct store *store, const struct alert_news *in, pawl_error *err) {
    struct arena *arena = NULL;
    struct put_plan plan = {0};
    pawl_status status = plan_news(in, &arena, &plan, err);
    if (status == PAWL_OK) {
        struct model *model = model_enter(store);
        write_news(model, in, &plan);
        status = model_leave(model, PAWL_OK);
    }
    arena_free(arena);
    return status;
}

/* ---- History */

static struct alert_change copy_change(struct arena *arena, const struct alert_change *from, bool *failed) {
    struct alert_change change = *from;
    change.rule = copied(arena, from->rule, failed);
    change.detail = copied(arena, from->detail, failed);
    return change;
}

static void count_notices(const struct model_alerts *alerts, struct arena *arena, struct alert_change *change,
                          bool *failed) {
    for (size_t i = 0; i < alerts->notice_count; i++) {
        const struct notice *notice = &alerts->notices[i];
        if (!uuid_equal(notice->change, change->id))
            continue;
        change->waiting += notice->state == NOTICE_WAITING;
        change->delivered += notice->state == NOTICE_DELIVERED;
        change->failed += notice->state == NOTICE_GIVEN_UP;
        if (!str_absent(notice->error))
            change->error = copied(arena, notice->error, failed);
    }
}

static pawl_status changes(struct store *store, pawl_str rule, int64_t before, int limit, struct arena *arena,
                           struct alert_changes *out, pawl_error *err) {
    struct model *model = model_enter(store);
    struct model_alerts *alerts = alerts_of(model);
    struct alert_change *rows = arena_array(arena, (size_t)limit, sizeof *rows);
    bool failed = rows == NULL;
    size_t count = 0;
    for (size_t i = alerts->change_count; !failed && i-- > 0 && count < (size_t)limit;) {
        const struct alert_change *change = &alerts->changes[i];
        if ((!str_absent(rule) && !str_equal(change->rule, rule)) || (before > 0 && change->number >= before))
            continue;
        rows[count] = copy_change(arena, change, &failed);
        count_notices(alerts, arena, &rows[count++], &failed);
    }
    if (failed)
        return model_leave(model, no_memory(err));
    *out = (struct alert_changes){rows, count};
    return model_leave(model, PAWL_OK);
}

/* ---- Deliveries */

static const struct alert_change *find_change(const struct model_alerts *alerts, pawl_uuid id) {
    for (size_t i = 0; i < alerts->change_count; i++) {
        if (uuid_equal(alerts->changes[i].id, id))
            return &alerts->changes[i];
    }
    return NULL;
}

static pawl_status take_notices(struct model *model, pawl_str target, int64_t lease_ms, int limit,
                                struct arena *arena, struct alert_notices *out) {
    struct model_alerts *alerts = alerts_of(model);
    bool failed = false;
    int64_t token = 0;
    for (size_t i = 0; i < alerts->notice_count && out->count < (size_t)limit; i++) {
        struct notice *notice = &alerts->notices[i];
        const struct alert_change *change = find_change(alerts, notice->change);
        if (notice->state != NOTICE_WAITING || notice->due_ms > model->now_ms ||
            !str_equal(notice->target, target) || change == NULL)
            continue;
        if (token == 0)
            token = model_token_next(model);
        notice->token = token;
        notice->due_ms = model->now_ms + lease_ms;
        out->notices[out->count++] = (struct alert_notice){.number = notice->number,
                                                           .token = token,
                                                           .attempt = ++notice->attempts,
                                                           .age_ms = model->now_ms - change->at_ms,
                                                           .change = copy_change(arena, change, &failed)};
    }
    return failed ? PAWL_NO_MEMORY : PAWL_OK;
}

static pawl_status notices_take(struct store *store, pawl_str target, int64_t lease_ms, int limit,
                                struct arena *arena, struct alert_notices *out, pawl_error *err) {
    pawl_status status = check_alert_take(target, lease_ms, limit, err);
    if (status != PAWL_OK)
        return status;
    struct alert_notices taken = {arena_array(arena, (size_t)limit, sizeof *taken.notices), 0};
    if (taken.notices == NULL)
        return no_memory(err);
    struct model *model = model_enter(store);
    status = take_notices(model, target, lease_ms, limit, arena, &taken);
    if (status == PAWL_OK)
        *out = taken;
    return model_leave(model, status == PAWL_OK ? status : no_memory(err));
}

static pawl_status notice_end(struct store *store, const struct alert_notice_end *in, pawl_error *err) {
    pawl_status status = check_alert_notice_end(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct model_alerts *alerts = alerts_of(model);
    for (size_t i = 0; i < alerts->notice_count; i++) {
        struct notice *notice = &alerts->notices[i];
        if (notice->number != in->number || notice->token != in->token || notice->state != NOTICE_WAITING)
            continue;
        notice->state = in->delivered      ? NOTICE_DELIVERED
                        : in->delay_ms < 0 ? NOTICE_GIVEN_UP
                                           : NOTICE_WAITING;
        notice->due_ms = model->now_ms + (in->delay_ms > 0 ? in->delay_ms : 0);
        notice->token = 0;
        model_text_free(notice->error);
        notice->error = model_text(in->error);
        return model_leave(model, PAWL_OK);
    }
    return model_leave(model,
                       error_set(err, PAWL_STALE, "alert_notice_end", "the delivery is no longer ours"));
}

/* Memory has no limit that anybody could come near. */
static pawl_status pressure(struct store *store, int64_t *percent, pawl_error *err) {
    (void)store;
    (void)err;
    *percent = 0;
    return PAWL_OK;
}

const struct store_alerts_ops model_alerts_ops = {
    .rules = rules,
    .rule_put = rule_put,
    .rule_remove = rule_remove,
    .silence = silence,
    .turn_take = turn_take,
    .turn_end = turn_end,
    .tell = tell,
    .changes = changes,
    .notices_take = notices_take,
    .notice_end = notice_end,
    .pressure = pressure,
};
