/* Alerts: rules as data, one turn per interval, news that are written together or not at all, deliveries that
 * somebody has for a while. */
#include "base/limits.h"
#include "conformance/harness.h"

enum { INTERVAL_MS = 15000, HOLD_MS = 60000 };

static const struct store_alerts_ops *ops(struct conf *c) { return c->store->ops->alerts; }

static struct alert_row rule_named(struct conf *c, const char *name) {
    struct alert_rows rows;
    ok(c, ops(c)->rules(c->store, str_from(name), c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.now_ms, c->now_ms);
    return rows.rows[0];
}

static struct alert_turn take_turn(struct conf *c, struct store *store) {
    struct alert_turn turn;
    ok(c, store->ops->alerts->turn_take(store, INTERVAL_MS, c->arena, &turn, &c->err));
    return turn;
}

static struct alert_change fired(int n, const char *rule) {
    return (struct alert_change){.id = message_id(n),
                                 .rule = str_from(rule),
                                 .event = ALERT_FIRED,
                                 .value = 7,
                                 .detail = STR("{\"value\":7}")};
}

static struct alert_notices take(struct conf *c, const char *target) {
    struct alert_notices notices;
    ok(c, ops(c)->notices_take(c->store, str_from(target), HOLD_MS, 10, c->arena, &notices, &c->err));
    return notices;
}

/* covers: W44 W45 J40 */
static void a_new_schema_has_the_rules_of_the_sources(void **state) {
    struct conf *c = *state;
    struct alert_rows rows;
    ok(c, ops(c)->rules(c->store, ABSENT, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, alert_defaults_count);
    for (size_t i = 0; i < rows.count; i++) {
        const struct alert_rule *have = &rows.rows[i].rule, *want = &alert_defaults[i];
        assert_true(str_equal(have->name, want->name) && str_equal(have->metric, want->metric));
        assert_true(str_equal(have->summary, want->summary) && str_equal(have->targets, want->targets));
        assert_true(have->side == want->side && have->severity == want->severity);
        assert_true(have->threshold == want->threshold && have->clear_threshold == want->clear_threshold);
        assert_true(have->for_ms == want->for_ms && have->clear_ms == want->clear_ms);
        assert_true(have->enabled == want->enabled && have->version == 1);
        assert_int_equal(rows.rows[i].state.phase, ALERT_OK);
        assert_int_equal(rows.rows[i].state.since_ms, 0);
        ok(c, alert_rule_check(have, &c->err));
    }
    struct alert_rule stale = rule_named(c, "stale-leases").rule;
    assert_true(stale.threshold == 0 && stale.severity == ALERT_CRITICAL && stale.enabled);
    struct alert_rule backlog = rule_named(c, "outbox-backlog").rule;
    assert_true(backlog.threshold == 10000 && backlog.severity == ALERT_WARNING && backlog.enabled);
    assert_int_equal(rule_named(c, "outbox-gave-up").rule.severity, ALERT_CRITICAL);
    assert_int_equal(rule_named(c, "inbox-gave-up").rule.severity, ALERT_CRITICAL);
    assert_int_equal(rule_named(c, "leases-per-worker").rule.severity, ALERT_WARNING);
}

static void a_rule_is_made_changed_and_removed(void **state) {
    struct conf *c = *state;
    struct alert_rule rule = {.name = STR("many-jobs"),
                              .metric = STR("jobs_ready"),
                              .summary = STR("too many jobs"),
                              .targets = STR("log,pager"),
                              .side = ALERT_ABOVE,
                              .severity = ALERT_CRITICAL,
                              .threshold = 100,
                              .clear_threshold = 50,
                              .for_ms = 1000,
                              .clear_ms = 2000,
                              .enabled = true};
    int64_t version = 0;
    ok(c, ops(c)->rule_put(c->store, &rule, &version, &c->err));
    assert_int_equal(version, 1);
    struct alert_row row = rule_named(c, "many-jobs");
    assert_true(row.rule.clear_threshold == 50 && row.rule.clear_ms == 2000);
    assert_true(str_equal_cstr(row.rule.targets, "log,pager"));
    assert_int_equal(row.rule.updated_ms, c->now_ms);
    rule.version = 1;
    rule.threshold = 200;
    rule.enabled = false;
    ok(c, ops(c)->rule_put(c->store, &rule, &version, &c->err));
    assert_int_equal(version, 2);
    expect(c, PAWL_CONFLICT, ops(c)->rule_put(c->store, &rule, &version, &c->err)); /* of version 1 */
    expect_error(c, "another version");
    rule.version = 0;
    rule.summary = ABSENT;
    ok(c, ops(c)->rule_put(c->store, &rule, &version, &c->err));
    assert_int_equal(version, 3);
    assert_true(str_absent(rule_named(c, "many-jobs").rule.summary));
    ok(c, ops(c)->rule_remove(c->store, rule.name, &c->err));
    expect(c, PAWL_NOT_FOUND, ops(c)->rule_remove(c->store, rule.name, &c->err));
    expect_error(c, "many-jobs");
    struct alert_rows rows;
    ok(c, ops(c)->rules(c->store, rule.name, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, 0);
    assert_int_equal(rows.now_ms, c->now_ms);
}

static void a_wrong_rule_is_refused_with_the_reason(void **state) {
    struct conf *c = *state;
    const struct alert_rule right = rule_named(c, "error-rate").rule;
    struct alert_rule wrong[6];
    const char *words[] = {"name of a rule", "no metric", "above or below",
                           "never resolve",  "for is",    "name of a target"};
    for (int i = 0; i < 6; i++)
        wrong[i] = right;
    wrong[0].name = STR("no blanks");
    wrong[1].metric = STR("mood");
    wrong[2].side = (enum alert_side)3;
    wrong[3].clear_threshold = right.threshold + 1;
    wrong[4].for_ms = -1;
    wrong[5].targets = STR("log,,pager");
    for (int i = 0; i < 6; i++) {
        int64_t version;
        expect(c, PAWL_INVALID, ops(c)->rule_put(c->store, &wrong[i], &version, &c->err));
        expect_error(c, words[i]);
    }
    struct alert_turn turn;
    expect(c, PAWL_INVALID, ops(c)->turn_take(c->store, 1, c->arena, &turn, &c->err));
    assert_int_equal(rule_named(c, "error-rate").rule.version, 1);
}

static void rules_have_a_limit(void **state) {
    struct conf *c = *state;
    struct alert_rule rule = rule_named(c, "error-rate").rule;
    int64_t version;
    rule.version = 0;
    for (size_t i = alert_defaults_count; i < PAWL_ALERT_RULES_MAX; i++) {
        rule.name = str_from(arena_printf(c->arena, "rule-%03zu", i));
        ok(c, ops(c)->rule_put(c->store, &rule, &version, &c->err));
    }
    rule.name = STR("one-more");
    expect(c, PAWL_CONFLICT, ops(c)->rule_put(c->store, &rule, &version, &c->err));
    struct alert_rows rows;
    ok(c, ops(c)->rules(c->store, ABSENT, c->arena, &rows, &c->err));
    assert_int_equal(rows.count, PAWL_ALERT_RULES_MAX);
}

static void a_turn_is_given_once_per_interval(void **state) {
    struct conf *c = *state;
    struct store *other = open_again(c);
    struct store *second = other != NULL ? other : c->store;
    struct alert_turn first = take_turn(c, c->store);
    assert_true(first.taken && first.token > 0 && !first.due);
    assert_int_equal(first.facts.counts.now_ms, c->now_ms);
    assert_int_equal(first.next_ms, c->now_ms + INTERVAL_MS);
    assert_int_equal(first.rules.count, alert_defaults_count);
    struct alert_turn refused = take_turn(c, second);
    assert_false(refused.taken);
    assert_true(refused.token == 0 && refused.next_ms == first.next_ms);
    advance(c, INTERVAL_MS - 1);
    assert_false(take_turn(c, second).taken);
    advance(c, 1);
    struct alert_turn next = take_turn(c, second);
    assert_true(next.taken && next.token > first.token);
    struct alert_turn_end late = {.token = first.token, .window = STR("late\n")};
    expect(c, PAWL_STALE, ops(c)->turn_end(c->store, &late, &c->err));
    struct alert_turn_end in_time = {.token = next.token, .window = STR("1 2 3 4 5\n")};
    ok(c, second->ops->alerts->turn_end(second, &in_time, &c->err));
    advance(c, INTERVAL_MS);
    assert_true(str_equal_cstr(take_turn(c, c->store).window, "1 2 3 4 5\n"));
    close_again(other);
}

static void a_longer_interval_of_somebody_else_holds_nobody_up(void **state) {
    struct conf *c = *state;
    struct alert_turn turn;
    ok(c, ops(c)->turn_take(c->store, PAWL_ALERT_INTERVAL_MS_MAX, c->arena, &turn, &c->err));
    assert_true(turn.taken);
    assert_true(take_turn(c, c->store).taken);
}

static void what_a_turn_found_is_written_together(void **state) {
    struct conf *c = *state;
    struct alert_turn turn = take_turn(c, c->store);
    struct alert_verdict verdict = {
        .rule = STR("outbox-backlog"),
        .version = 1,
        .state = {
            .phase = ALERT_FIRING, .since_ms = c->now_ms, .turning_ms = 5, .told = true, .value = 10001}};
    struct alert_change change = fired(1, "outbox-backlog");
    struct alert_delivery deliveries[2] = {{change.id, STR("log")}, {change.id, STR("pager")}};
    pawl_outgoing message = {.id = change.id,
                             .stream = STR("alert:outbox-backlog"),
                             .type = STR("pawl.alert.fired"),
                             .payload = change.detail};
    struct alert_turn_end end = {.token = turn.token,
                                 .window = STR(""),
                                 .verdicts = &verdict,
                                 .verdict_count = 1,
                                 .news = {&change, 1, deliveries, 2, &message, 1}};
    ok(c, ops(c)->turn_end(c->store, &end, &c->err));
    struct alert_state now = rule_named(c, "outbox-backlog").state;
    assert_true(now.phase == ALERT_FIRING && now.since_ms == c->now_ms && now.turning_ms == 5);
    assert_true(now.told && now.value == 10001);
    struct alert_changes changes;
    ok(c, ops(c)->changes(c->store, ABSENT, 0, 10, c->arena, &changes, &c->err));
    assert_int_equal(changes.count, 1);
    assert_true(changes.changes[0].event == ALERT_FIRED && changes.changes[0].at_ms == c->now_ms);
    assert_true(changes.changes[0].value == 7 && changes.changes[0].waiting == 2);
    assert_true(str_equal_cstr(changes.changes[0].detail, "{\"value\":7}"));
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    assert_string_equal(numbers(c, claim(c, 1, KIND_OUTBOX, 10)), "1");
}

static void a_rule_that_changed_meanwhile_undoes_the_whole_turn(void **state) {
    struct conf *c = *state;
    struct alert_turn turn = take_turn(c, c->store);
    struct alert_rule rule = rule_named(c, "error-rate").rule;
    int64_t version;
    ok(c, ops(c)->rule_put(c->store, &rule, &version, &c->err));
    struct alert_verdict verdicts[2] = {
        {STR("outbox-backlog"), 1, {.phase = ALERT_FIRING, .since_ms = c->now_ms}},
        {STR("error-rate"), 1, {.phase = ALERT_FIRING, .since_ms = c->now_ms}}};
    struct alert_change change = fired(1, "outbox-backlog");
    pawl_outgoing message = {.id = change.id,
                             .stream = STR("alert:outbox-backlog"),
                             .type = STR("pawl.alert.fired"),
                             .payload = change.detail};
    struct alert_turn_end end = {.token = turn.token,
                                 .window = STR(""),
                                 .verdicts = verdicts,
                                 .verdict_count = 2,
                                 .news = {&change, 1, NULL, 0, &message, 1}};
    expect(c, PAWL_CONFLICT, ops(c)->turn_end(c->store, &end, &c->err));
    assert_int_equal(rule_named(c, "outbox-backlog").state.phase, ALERT_OK);
    struct alert_changes changes;
    ok(c, ops(c)->changes(c->store, ABSENT, 0, 10, c->arena, &changes, &c->err));
    assert_int_equal(changes.count, 0);
    assert_int_equal(rows_with_id(c, 1), 0);
}

static void a_silence_has_an_end_and_a_person(void **state) {
    struct conf *c = *state;
    struct alert_silence in = {STR("error-rate"), c->now_ms + 3600000, STR("repairing"), STR("ada")};
    ok(c, ops(c)->silence(c->store, &in, &c->err));
    struct alert_row row = rule_named(c, "error-rate");
    assert_int_equal(row.silence_until_ms, in.until_ms);
    assert_true(str_equal_cstr(row.silence_reason, "repairing") && str_equal_cstr(row.silence_by, "ada"));
    assert_int_equal(row.rule.version, 1); /* a running evaluation goes on */
    in = (struct alert_silence){STR("error-rate"), 0, ABSENT, STR("ada")};
    ok(c, ops(c)->silence(c->store, &in, &c->err));
    assert_int_equal(rule_named(c, "error-rate").silence_until_ms, 0);
    in.name = STR("nothing");
    expect(c, PAWL_NOT_FOUND, ops(c)->silence(c->store, &in, &c->err));
}

static void a_delivery_belongs_to_one_until_its_lease_is_over(void **state) {
    struct conf *c = *state;
    struct alert_change change = fired(1, "error-rate");
    struct alert_delivery deliveries[2] = {{change.id, STR("pager")}, {change.id, STR("log")}};
    struct alert_news news = {&change, 1, deliveries, 2, NULL, 0};
    assert_false(take_turn(c, c->store).due);
    ok(c, ops(c)->tell(c->store, &news, &c->err));
    assert_true(take_turn(c, c->store).due); /* whose turn it is does not matter */
    advance(c, 5);
    struct alert_notices first = take(c, "pager");
    assert_int_equal(first.count, 1);
    assert_true(first.notices[0].attempt == 1 && first.notices[0].age_ms == 5);
    assert_true(str_equal_cstr(first.notices[0].change.rule, "error-rate"));
    assert_true(uuid_equal(first.notices[0].change.id, message_id(1)));
    assert_int_equal(take(c, "pager").count, 0);
    assert_int_equal(take(c, "nobody").count, 0);
    advance(c, HOLD_MS);
    struct alert_notices again = take(c, "pager");
    assert_int_equal(again.count, 1);
    assert_int_equal(again.notices[0].attempt, 2);
    struct alert_notice_end late = {first.notices[0].number, first.notices[0].token, true, 0, ABSENT};
    expect(c, PAWL_STALE, ops(c)->notice_end(c->store, &late, &c->err));
    struct alert_notice_end end = {again.notices[0].number, again.notices[0].token, true, 0, ABSENT};
    ok(c, ops(c)->notice_end(c->store, &end, &c->err));
    expect(c, PAWL_STALE, ops(c)->notice_end(c->store, &end, &c->err));
    advance(c, HOLD_MS);
    assert_int_equal(take(c, "pager").count, 0);
    assert_int_equal(take(c, "log").count, 1);
    assert_false(take_turn(c, c->store).due); /* what somebody has is not due */
}

static void a_delivery_that_fails_is_tried_again_or_given_up(void **state) {
    struct conf *c = *state;
    struct alert_change change = fired(1, "error-rate");
    struct alert_delivery delivery = {change.id, STR("pager")};
    struct alert_news news = {&change, 1, &delivery, 1, NULL, 0};
    ok(c, ops(c)->tell(c->store, &news, &c->err));
    struct alert_notice notice = take(c, "pager").notices[0];
    struct alert_notice_end failed = {notice.number, notice.token, false, 1000, STR("HTTP 503")};
    ok(c, ops(c)->notice_end(c->store, &failed, &c->err));
    assert_int_equal(take(c, "pager").count, 0);
    advance(c, 1000);
    notice = take(c, "pager").notices[0];
    assert_int_equal(notice.attempt, 2);
    failed = (struct alert_notice_end){notice.number, notice.token, false, -1, STR("HTTP 410")};
    ok(c, ops(c)->notice_end(c->store, &failed, &c->err));
    advance(c, HOLD_MS);
    assert_int_equal(take(c, "pager").count, 0);
    struct alert_changes changes;
    ok(c, ops(c)->changes(c->store, STR("error-rate"), 0, 10, c->arena, &changes, &c->err));
    assert_true(changes.changes[0].failed == 1 && changes.changes[0].waiting == 0);
    assert_true(str_equal_cstr(changes.changes[0].error, "HTTP 410"));
}

static void history_is_paged_by_rule_and_forgotten_in_time(void **state) {
    struct conf *c = *state;
    for (int n = 1; n <= 5; n++) {
        struct alert_change change = fired(n, n % 2 == 1 ? "odd" : "even");
        struct alert_delivery delivery = {change.id, STR("log")};
        struct alert_news news = {&change, 1, &delivery, 1, NULL, 0};
        ok(c, ops(c)->tell(c->store, &news, &c->err));
    }
    struct alert_changes changes;
    ok(c, ops(c)->changes(c->store, STR("odd"), 0, 2, c->arena, &changes, &c->err));
    assert_int_equal(changes.count, 2);
    assert_int_equal(id_number(changes.changes[0].id), 5);
    ok(c, ops(c)->changes(c->store, STR("odd"), changes.changes[1].number, 2, c->arena, &changes, &c->err));
    assert_int_equal(changes.count, 1);
    assert_int_equal(id_number(changes.changes[0].id), 1);
    advance(c, PAWL_ALERT_KEEP_MS + 1);
    struct alert_turn_end end = {.token = take_turn(c, c->store).token, .window = STR("")};
    ok(c, ops(c)->turn_end(c->store, &end, &c->err));
    ok(c, ops(c)->changes(c->store, ABSENT, 0, 10, c->arena, &changes, &c->err));
    assert_int_equal(changes.count, 0);
    assert_int_equal(take(c, "log").count, 0);
}

static void the_database_says_how_full_it_is(void **state) {
    struct conf *c = *state;
    int64_t percent = -1;
    ok(c, ops(c)->pressure(c->store, &percent, &c->err));
    assert_true(percent >= 0 && percent <= 100);
}

/* What a turn evaluates, metrics show, and the monitor draws: read together, it says the same as its parts.
 */
static void the_fleet_is_read_at_once(void **state) {
    struct conf *c = *state;
    struct fleet_facts facts;
    struct settings settings;
    struct durability durability;
    ok(c, c->view->fleet(c->store, c->arena, &facts, &c->err));
    assert_int_equal(facts.queues.count, 0);
    assert_int_equal(facts.queues.now_ms, c->now_ms); /* also of an empty list */
    join(c, 1, KIND_BIT(KIND_OUTBOX));
    put(c, KIND_OUTBOX, 1, STR("a"));
    struct job_new job = {.type = STR("tidy")};
    struct enqueue_result made;
    struct jobs_enqueue in = {.jobs = &job, .count = 1};
    ok(c, c->store->ops->jobs->enqueue(c->store, &in, c->arena, &made, &c->err));
    ok(c, c->view->fleet(c->store, c->arena, &facts, &c->err));
    ok(c, c->core->settings_read(c->store, &settings, &c->err));
    ok(c, c->view->durability(c->store, c->arena, &durability, &c->err));
    assert_int_equal(facts.counts.now_ms, c->now_ms);
    assert_int_equal(facts.counts.kind[KIND_OUTBOX].put, 1);
    assert_int_equal(facts.instances.count, 1);
    assert_true(uuid_equal(facts.instances.rows[0].id, instance_id(1)));
    assert_true(facts.queues.count == 1 && facts.queues.queues[0].ready == 1);
    assert_int_equal(facts.settings.epoch, settings.epoch);
    assert_true(str_equal(facts.durability.found, durability.found));
    assert_true(facts.pressure >= 0 && facts.pressure <= 100);
    ok(c, c->view->fleet(c->store, c->arena, &facts, &c->err)); /* the statements are known by now */
    assert_int_equal(facts.counts.kind[KIND_OUTBOX].put, 1);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(a_new_schema_has_the_rules_of_the_sources),
    CONF_TEST(a_rule_is_made_changed_and_removed),
    CONF_TEST(a_wrong_rule_is_refused_with_the_reason),
    CONF_TEST(rules_have_a_limit),
    CONF_TEST(a_turn_is_given_once_per_interval),
    CONF_TEST(a_longer_interval_of_somebody_else_holds_nobody_up),
    CONF_TEST(what_a_turn_found_is_written_together),
    CONF_TEST(a_rule_that_changed_meanwhile_undoes_the_whole_turn),
    CONF_TEST(a_silence_has_an_end_and_a_person),
    CONF_TEST(a_delivery_belongs_to_one_until_its_lease_is_over),
    CONF_TEST(a_delivery_that_fails_is_tried_again_or_given_up),
    CONF_TEST(history_is_paged_by_rule_and_forgotten_in_time),
    CONF_TEST(the_database_says_how_full_it_is),
    CONF_TEST(the_fleet_is_read_at_once),
};
CONF_GROUP(alerts, tests);
