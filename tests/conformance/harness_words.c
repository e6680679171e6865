/* Helpers for store operations; each one fails the test unless the call succeeds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/harness.h"

/* Like expect(), for helpers: the place that counts is the test's, which conf_at() already noted. */
static void must(struct conf *c, pawl_status status, const char *call) {
    expect_status_(c, PAWL_OK, status, call);
}

struct instance_new instance_named(int n, int kinds) {
    return (struct instance_new){.id = instance_id(n),
                                 .service = STR("orders"),
                                 .host = STR("host-a"),
                                 .pid = 1000 + n,
                                 .kinds = kinds,
                                 .lease_ms = INSTANCE_LEASE_MS};
}

struct instance_grant join_with_(struct conf *c, struct instance_new in) {
    struct instance_grant grant = {0};
    must(c, c->core->instance_register(c->store, &in, &grant, &c->err), "instance_register");
    return grant;
}

struct instance_grant join_(struct conf *c, int n, int kinds) {
    return join_with_(c, instance_named(n, kinds));
}

struct beat_result beat_(struct conf *c, int n) {
    struct beat_result result = {0};
    must(c, c->core->heartbeat(c->store, instance_id(n), -1, &result, &c->err), "heartbeat");
    return result;
}

pawl_outgoing message_numbered(struct conf *c, int n, pawl_str stream) {
    const char *payload = arena_printf(c->arena, "{\"n\":%d}", n);
    return (pawl_outgoing){
        .id = message_id(n), .stream = stream, .type = STR("OrderCreated"), .payload = str_from(payload)};
}

struct put_result put_with_(struct conf *c, struct messages_put in) {
    struct put_result result = {0};
    must(c, c->core->messages_put(c->store, &in, c->arena, &result, &c->err), "messages_put");
    return result;
}

enum store_answer put_(struct conf *c, enum store_kind kind, int n, pawl_str stream) {
    pawl_outgoing message = message_numbered(c, n, stream);
    struct messages_put in = {.kind = kind, .messages = &message, .count = 1};
    if (kind == KIND_INBOX)
        in.consumer = STR("orders");
    return put_with_(c, in).answers[0];
}

void put_range_(struct conf *c, enum store_kind kind, int first, int last, pawl_str stream) {
    size_t count = (size_t)(last - first + 1);
    pawl_outgoing *messages = arena_array(c->arena, count, sizeof *messages);
    assert_non_null(messages);
    for (size_t i = 0; i < count; i++)
        messages[i] = message_numbered(c, first + (int)i, stream);
    struct messages_put in = {.kind = kind, .messages = messages, .count = count};
    if (kind == KIND_INBOX)
        in.consumer = STR("orders");
    struct put_result result = put_with_(c, in);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(result.answers[i], ANSWER_APPLIED);
}

struct messages_claim claim_of(int instance, enum store_kind kind, int max) {
    return (struct messages_claim){
        .instance = instance_id(instance), .kind = kind, .max = max, .lease_ms = LEASE_MS};
}

struct item_list claim_with_(struct conf *c, struct messages_claim in) {
    struct item_list list = {0};
    must(c, c->core->messages_claim(c->store, &in, c->arena, &list, &c->err), "messages_claim");
    return list;
}

struct item_list claim_(struct conf *c, int instance, enum store_kind kind, int max) {
    return claim_with_(c, claim_of(instance, kind, max));
}

static const char *numbers_text(struct conf *c, const int *values, size_t count) {
    struct buf text;
    buf_init(&text, 0);
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s%d", i > 0 ? " " : "", values[i]);
    const char *copy = arena_strdup(c->arena, count > 0 ? buf_str(&text).ptr : "");
    buf_free(&text);
    return copy;
}

static int compare_ints(const void *a, const void *b) {
    const int *left = a;
    const int *right = b;
    return (*left > *right) - (*left < *right);
}

static const char *numbers_of(struct conf *c, struct item_list list, bool sorted) {
    int *values = arena_array(c->arena, list.count, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < list.count; i++)
        values[i] = id_number(list.items[i].id);
    if (sorted)
        qsort(values, list.count, sizeof *values, compare_ints);
    return numbers_text(c, values, list.count);
}

const char *numbers(struct conf *c, struct item_list list) { return numbers_of(c, list, false); }
const char *numbers_sorted(struct conf *c, struct item_list list) { return numbers_of(c, list, true); }

const struct item *item_of_(struct conf *c, struct item_list list, int n) {
    for (size_t i = 0; i < list.count; i++) {
        if (id_number(list.items[i].id) == n)
            return &list.items[i];
    }
    print_error("message %d is not among the items: %s\n", n, numbers(c, list));
    _fail(c->file, c->line);
    return NULL;
}

static struct item_ref ref_of(const struct item *item) {
    return (struct item_ref){.token = item->token, .id = item->id};
}

enum store_answer complete_status_(struct conf *c, int instance, const struct item *item, int status) {
    struct complete_item one = {.ref = ref_of(item), .status = status};
    struct messages_complete in = {
        .instance = instance_id(instance), .kind = item->kind, .items = &one, .count = 1, .debug = false};
    struct answer_list answers = {0};
    must(c, c->core->messages_complete(c->store, &in, c->arena, &answers, &c->err), "messages_complete");
    assert_int_equal(answers.count, 1);
    return answers.answers[0];
}

enum store_answer complete_(struct conf *c, int instance, const struct item *item) {
    return complete_status_(c, instance, item, 4);
}

void complete_all_(struct conf *c, int instance, struct item_list list) {
    if (list.count == 0)
        return;
    struct complete_item *items = arena_array(c->arena, list.count, sizeof *items);
    assert_non_null(items);
    for (size_t i = 0; i < list.count; i++)
        items[i] = (struct complete_item){.ref = ref_of(&list.items[i]), .status = 4};
    struct messages_complete in = {
        .instance = instance_id(instance), .kind = list.items[0].kind, .items = items, .count = list.count};
    struct answer_list answers = {0};
    must(c, c->core->messages_complete(c->store, &in, c->arena, &answers, &c->err), "messages_complete");
    for (size_t i = 0; i < list.count; i++) {
        if (answers.answers[i] != ANSWER_APPLIED) {
            print_error("message %d: answer %d\n", id_number(list.items[i].id), answers.answers[i]);
            _fail(c->file, c->line);
        }
    }
}

struct fail_item failure_of(const struct item *item, const char *error, int64_t delay_ms) {
    return (struct fail_item){
        .ref = ref_of(item), .error = str_from(error), .error_class = CLASS_RETRYABLE, .delay_ms = delay_ms};
}

struct fail_answer fail_with_(struct conf *c, int instance, enum store_kind kind, struct fail_item one) {
    struct messages_fail in = {.instance = instance_id(instance), .kind = kind, .items = &one, .count = 1};
    struct answer_list answers = {0};
    must(c, c->core->messages_fail(c->store, &in, c->arena, &answers, &c->err), "messages_fail");
    assert_int_equal(answers.count, 1);
    return (struct fail_answer){answers.answers[0], answers.outcomes[0]};
}

enum store_answer fail_(struct conf *c, int instance, const struct item *item, int64_t delay_ms) {
    return fail_with_(c, instance, item->kind, failure_of(item, "broken pipe", delay_ms)).answer;
}

enum store_answer release_(struct conf *c, int instance, const struct item *item, int64_t delay_ms) {
    struct release_item one = {.ref = ref_of(item), .delay_ms = delay_ms};
    struct messages_release in = {
        .instance = instance_id(instance), .kind = item->kind, .items = &one, .count = 1};
    struct answer_list answers = {0};
    must(c, c->core->messages_release(c->store, &in, c->arena, &answers, &c->err), "messages_release");
    return answers.answers[0];
}

static enum store_answer renew_ref(struct conf *c, int instance, enum store_kind kind, struct item_ref ref,
                                   int64_t lease_ms) {
    struct messages_renew in = {
        .instance = instance_id(instance), .kind = kind, .items = &ref, .count = 1, .lease_ms = lease_ms};
    struct answer_list answers = {0};
    must(c, c->core->messages_renew(c->store, &in, c->arena, &answers, &c->err), "messages_renew");
    return answers.answers[0];
}

enum store_answer renew_(struct conf *c, int instance, const struct item *item, int64_t lease_ms) {
    return renew_ref(c, instance, item->kind, ref_of(item), lease_ms);
}

enum store_answer renew_token_(struct conf *c, int instance, const struct item *item, int64_t lease_ms) {
    return renew_ref(c, instance, item->kind, (struct item_ref){.token = item->token}, lease_ms);
}

void kill_message_(struct conf *c, int instance, enum store_kind kind, int n, enum dead_policy policy) {
    struct item_list list = claim_(c, instance, kind, 100);
    const struct item *item = item_of_(c, list, n);
    struct fail_item last = failure_of(item, "cannot be parsed", 0);
    last.error_class = CLASS_PERMANENT;
    last.policy = policy;
    struct fail_answer answer = fail_with_(c, instance, kind, last);
    if (answer.answer != ANSWER_APPLIED || answer.outcome != FAIL_DEAD) {
        print_error("message %d did not die: answer %d, outcome %d\n", n, answer.answer, answer.outcome);
        _fail(c->file, c->line);
    }
    /* What came along goes back untouched; under skip the successors are still in the claim. */
    for (size_t i = 0; i < list.count; i++) {
        if (id_number(list.items[i].id) != n)
            (void)release_(c, instance, &list.items[i], 0);
    }
}

static struct dead_ref dead_of(struct conf *c, enum store_kind kind, int n) {
    struct dead_ref ref = {.kind = kind, .seq = 1000000000};
    struct message_rows rows = {0};
    must(c, c->view->message_find(c->store, message_id(n), c->arena, &rows, &c->err), "message_find");
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.rows[i].item.kind == kind && rows.rows[i].state == STATE_DEAD)
            ref.seq = rows.rows[i].item.seq;
    }
    return ref;
}

enum store_answer redrive_(struct conf *c, enum store_kind kind, int n) {
    struct dead_ref ref = dead_of(c, kind, n);
    struct answer_list answers = {0};
    must(c, c->core->dead_redrive(c->store, &ref, 1, c->arena, &answers, &c->err), "dead_redrive");
    return answers.answers[0];
}

enum store_answer discard_(struct conf *c, enum store_kind kind, int n) {
    struct dead_ref ref = dead_of(c, kind, n);
    struct answer_list answers = {0};
    must(c, c->core->dead_discard(c->store, &ref, 1, c->arena, &answers, &c->err), "dead_discard");
    return answers.answers[0];
}
