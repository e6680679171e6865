/* Receptors: a log row per event and receptor, each on its own. */
#include "conformance/harness.h"

enum { STORED = 1, COMPLETED = 4, FAILED = 8 };

static enum store_answer report(struct conf *c, int event, const char *receptor, int status,
                                const char *error) {
    struct receptor_report one = {.event_id = message_id(event),
                                  .receptor = str_from(receptor),
                                  .status = status,
                                  .error = str_from(error)};
    struct answer_list answers;
    ok(c, c->core->receptors_report(c->store, &one, 1, c->arena, &answers, &c->err));
    assert_int_equal(answers.count, 1);
    return answers.answers[0];
}

static struct receptor_row *reported(struct conf *c, int event, size_t wanted) {
    struct receptor_row *rows = NULL;
    size_t count = 0;
    ok(c, c->view->receptors(c->store, message_id(event), c->arena, &rows, &count, &c->err));
    assert_int_equal(count, wanted);
    return rows;
}

/* covers: W27 W08 W09 */
static void many_receptors_of_one_event_are_independent(void **state) {
    struct conf *c = *state;
    assert_int_equal(report(c, 1, "Ledger", COMPLETED, NULL), ANSWER_APPLIED);
    assert_int_equal(report(c, 1, "Mailer", STORED, "mailbox full"), ANSWER_APPLIED);
    assert_int_equal(report(c, 2, "Mailer", COMPLETED, NULL), ANSWER_APPLIED);
    struct receptor_row *rows = reported(c, 1, 2);
    assert_true(str_equal(rows[0].receptor, STR("Ledger")));
    assert_int_equal(rows[0].status, COMPLETED);
    assert_true(str_absent(rows[0].error));
    assert_int_equal(rows[0].attempts, 1);
    assert_int_equal(rows[0].updated_ms, c->now_ms);
    assert_true(str_equal(rows[1].receptor, STR("Mailer")));
    assert_int_equal(rows[1].status, STORED | FAILED);
    assert_true(str_equal(rows[1].error, STR("mailbox full")));
    reported(c, 2, 1);
    reported(c, 3, 0);
}

static void a_completed_receptor_stays_completed(void **state) {
    struct conf *c = *state;
    assert_int_equal(report(c, 1, "Ledger", COMPLETED, NULL), ANSWER_APPLIED);
    assert_int_equal(report(c, 1, "Ledger", COMPLETED, NULL), ANSWER_DUPLICATE);
    assert_int_equal(report(c, 1, "Ledger", 0, "late failure"), ANSWER_DUPLICATE);
    struct receptor_row *rows = reported(c, 1, 1);
    assert_int_equal(rows[0].status, COMPLETED);
    assert_int_equal(rows[0].attempts, 1);
    assert_true(str_absent(rows[0].error));
}

static void a_failed_receptor_is_tried_again_and_may_succeed(void **state) {
    struct conf *c = *state;
    assert_int_equal(report(c, 1, "Ledger", 0, "one"), ANSWER_APPLIED);
    assert_int_equal(report(c, 1, "Ledger", 0, "two"), ANSWER_APPLIED);
    struct receptor_row *rows = reported(c, 1, 1);
    assert_int_equal(rows[0].attempts, 2);
    assert_int_equal(rows[0].status, FAILED);
    assert_true(str_equal(rows[0].error, STR("two")));
    assert_int_equal(report(c, 1, "Ledger", COMPLETED, NULL), ANSWER_APPLIED);
    rows = reported(c, 1, 1);
    assert_int_equal(rows[0].attempts, 3);
    assert_int_equal(rows[0].status, COMPLETED);
    assert_true(str_absent(rows[0].error));
}

static void many_reports_in_one_call_are_answered_one_by_one(void **state) {
    struct conf *c = *state;
    struct receptor_report reports[3] = {
        {.event_id = message_id(1), .receptor = STR("A"), .status = COMPLETED},
        {.event_id = message_id(1), .receptor = STR("A"), .status = COMPLETED},
        {.event_id = message_id(1), .receptor = STR("B"), .status = STORED}};
    struct answer_list answers;
    ok(c, c->core->receptors_report(c->store, reports, 3, c->arena, &answers, &c->err));
    assert_int_equal(answers.answers[0], ANSWER_APPLIED);
    assert_int_equal(answers.answers[1], ANSWER_DUPLICATE);
    assert_int_equal(answers.answers[2], ANSWER_APPLIED);
}

static int64_t notes_removed(struct conf *c, int rows_max) {
    struct maintain_in in = {.rows_max = rows_max};
    struct maintain_result swept = {0};
    ok(c, c->core->maintain(c->store, &in, &swept, &c->err));
    return swept.receptors_removed;
}

static void notes_go_with_the_history_unless_their_message_is_there(void **state) {
    struct conf *c = *state;
    enum { WEEK_MS = 604800000 };
    put(c, KIND_INBOX, 1, STR("a"));
    report(c, 1, "Ledger", COMPLETED, NULL);
    report(c, 2, "Ledger", COMPLETED, NULL);
    report(c, 2, "Mailer", STORED, "mailbox full");
    report(c, 3, "Ledger", COMPLETED, NULL);
    advance(c, WEEK_MS);
    assert_int_equal(notes_removed(c, 1000), 0);
    report(c, 3, "Mailer", COMPLETED, NULL);
    advance(c, 1);
    assert_int_equal(notes_removed(c, 2), 2);
    assert_int_equal(notes_removed(c, 2), 1);
    assert_int_equal(notes_removed(c, 2), 0);
    reported(c, 1, 1);
    reported(c, 2, 0);
    reported(c, 3, 1);
    join(c, 1, KIND_BIT(KIND_INBOX));
    complete_all(c, 1, claim(c, 1, KIND_INBOX, 10));
    assert_int_equal(notes_removed(c, 1000), 1);
    reported(c, 1, 0);
    struct settings_change change = settings_same();
    change.history_ms = 2 * WEEK_MS;
    ok(c, c->core->settings_change(c->store, &change, &c->err));
    advance(c, WEEK_MS + 1);
    assert_int_equal(notes_removed(c, 1000), 0);
    advance(c, WEEK_MS);
    assert_int_equal(notes_removed(c, 1000), 1);
}

static const struct CMUnitTest tests[] = {
    CONF_TEST(many_receptors_of_one_event_are_independent),
    CONF_TEST(a_completed_receptor_stays_completed),
    CONF_TEST(a_failed_receptor_is_tried_again_and_may_succeed),
    CONF_TEST(many_reports_in_one_call_are_answered_one_by_one),
    CONF_TEST(notes_go_with_the_history_unless_their_message_is_there),
};

CONF_GROUP(receptor, tests);
