/* What every conformance test stands on: a fresh store with a frozen clock, and short words for its
 * operations. */
#ifndef CONFORMANCE_HARNESS_H
#define CONFORMANCE_HARNESS_H

/* cmocka wants these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/uuid.h"
#include "store/store.h"

enum {
    LEASE_MS = 300000,            /* of a claim, unless the test says another */
    INSTANCE_LEASE_MS = 86400000, /* instances of join() do not fall silent by accident */
};

/* For messages without a stream, and other texts that are left out. */
#define ABSENT ((pawl_str){NULL, 0})

/* Far in the future, so that nothing that happened on this machine looks recent to the frozen clock. */
#define TEST_START_MS INT64_C(4102444800000)

/* One test's store and what the helpers know about it. */
struct conf {
    struct store *store;
    const struct store_core_ops *core;
    const struct store_view_ops *view;
    const struct store_jobs_ops *jobs;
    const struct store_runs_ops *runs;
    struct arena *arena;
    int64_t now_ms;
    int partitions, lanes;
    pawl_error err;
    const char *file; /* where the test called the helper that runs */
    int line;
};

struct conf_group {
    const char *name;
    const struct CMUnitTest *tests;
    size_t count;
};

#define CONF_TEST(function)                                                                                  \
    { #function, function, conf_setup, conf_teardown, NULL }
#define CONF_GROUP(noun, table)                                                                              \
    extern const struct conf_group conf_##noun;                                                              \
    const struct conf_group conf_##noun = {#noun, table, sizeof(table) / sizeof(table)[0]}

/* Creates a new store; runs every invariant on what the test left, and closes it. */
int conf_setup(void **state);
int conf_teardown(void **state);

/* Another handle on the test's store. close_again() takes NULL. */
struct store *open_again(struct conf *c);
void close_again(struct store *store);

/* Something that rings when the test's store is put into, or NULL where there is none; store_waker_close()
 * it. */
struct store_waker *open_waker(struct conf *c);

/* Whether there is a pooler in front of the store, so that a session keeps no state. */
bool pooled(struct conf *c);

/* A store made without naming the counts, instead of the test's; close_again() it. */
struct store *open_defaults(struct conf *c);

/* Runs the invariants now; fails the test when one is broken. */
void check_now_(struct conf *c);
#define check_now(c) (conf_at(c, __FILE__, __LINE__), check_now_(c))

/* Remembers where the test is, so that a failing helper can say it. */
void conf_at(struct conf *c, const char *file, int line);

/* Fails unless got is the wanted status; shows the error text. */
void expect_status_(struct conf *c, pawl_status wanted, pawl_status got, const char *call);
#define expect(c, wanted, call) (conf_at(c, __FILE__, __LINE__), expect_status_(c, wanted, call, #call))
#define ok(c, call) expect(c, PAWL_OK, call)

/* Fails unless the error of the last refused call contains the words: a refusal must say what to do. */
void expect_error_(struct conf *c, const char *words);
#define expect_error(c, ...) (conf_at(c, __FILE__, __LINE__), expect_error_(c, __VA_ARGS__))

/* The clock moves only here. */
void advance_(struct conf *c, int64_t by_ms);
#define advance(c, ...) (conf_at(c, __FILE__, __LINE__), advance_(c, __VA_ARGS__))

/* Settings that change nothing; fill in what should change. */
struct settings_change settings_same(void);

/* Ids by number, and back. */
pawl_uuid message_id(int n);
pawl_uuid instance_id(int n);
pawl_uuid request_id(int n);
int id_number(pawl_uuid id);

/* The k-th stream name that belongs to the lane; from the arena. */
pawl_str stream_on(struct conf *c, int lane, int k);
int lane_of_stream(struct conf *c, pawl_str stream);

/* Instances. */
struct instance_new instance_named(int n, int kinds);
struct instance_grant join_(struct conf *c, int n, int kinds);
struct instance_grant join_with_(struct conf *c, struct instance_new in);
struct beat_result beat_(struct conf *c, int n);
#define join(c, ...) (conf_at(c, __FILE__, __LINE__), join_(c, __VA_ARGS__))
#define join_with(c, ...) (conf_at(c, __FILE__, __LINE__), join_with_(c, __VA_ARGS__))
#define beat(c, ...) (conf_at(c, __FILE__, __LINE__), beat_(c, __VA_ARGS__))

/* Messages: number n has the id message_id(n) and the payload {"n":n}. */
pawl_outgoing message_numbered(struct conf *c, int n, pawl_str stream);
enum store_answer put_(struct conf *c, enum store_kind kind, int n, pawl_str stream);
void put_range_(struct conf *c, enum store_kind kind, int first, int last, pawl_str stream);
struct put_result put_with_(struct conf *c, struct messages_put in);
#define put(c, ...) (conf_at(c, __FILE__, __LINE__), put_(c, __VA_ARGS__))
#define put_range(c, ...) (conf_at(c, __FILE__, __LINE__), put_range_(c, __VA_ARGS__))
#define put_with(c, ...) (conf_at(c, __FILE__, __LINE__), put_with_(c, __VA_ARGS__))

/* Claims. */
struct messages_claim claim_of(int instance, enum store_kind kind, int max);
struct item_list claim_(struct conf *c, int instance, enum store_kind kind, int max);
struct item_list claim_with_(struct conf *c, struct messages_claim in);
#define claim(c, ...) (conf_at(c, __FILE__, __LINE__), claim_(c, __VA_ARGS__))
#define claim_with(c, ...) (conf_at(c, __FILE__, __LINE__), claim_with_(c, __VA_ARGS__))

/* "1 2 3": the numbers of the items in the order they were granted, or in rising order. */
const char *numbers(struct conf *c, struct item_list list);
const char *numbers_sorted(struct conf *c, struct item_list list);

/* The item of message n; fails when it is not in the list. */
const struct item *item_of_(struct conf *c, struct item_list list, int n);
#define item_of(c, ...) (conf_at(c, __FILE__, __LINE__), item_of_(c, __VA_ARGS__))

/* Reports of one item by the instance that should hold it. */
enum store_answer complete_(struct conf *c, int instance, const struct item *item);
enum store_answer complete_status_(struct conf *c, int instance, const struct item *item, int status);
void complete_all_(struct conf *c, int instance, struct item_list list);
enum store_answer fail_(struct conf *c, int instance, const struct item *item, int64_t delay_ms);
struct fail_item failure_of(const struct item *item, const char *error, int64_t delay_ms);
struct fail_answer {
    enum store_answer answer;
    enum fail_outcome outcome;
} fail_with_(struct conf *c, int instance, enum store_kind kind, struct fail_item in);
enum store_answer release_(struct conf *c, int instance, const struct item *item, int64_t delay_ms);
enum store_answer renew_(struct conf *c, int instance, const struct item *item, int64_t lease_ms);
enum store_answer renew_token_(struct conf *c, int instance, const struct item *item, int64_t lease_ms);
#define complete(c, ...) (conf_at(c, __FILE__, __LINE__), complete_(c, __VA_ARGS__))
#define complete_status(c, ...) (conf_at(c, __FILE__, __LINE__), complete_status_(c, __VA_ARGS__))
#define complete_all(c, ...) (conf_at(c, __FILE__, __LINE__), complete_all_(c, __VA_ARGS__))
#define fail_item(c, ...) (conf_at(c, __FILE__, __LINE__), fail_(c, __VA_ARGS__))
#define fail_with(c, ...) (conf_at(c, __FILE__, __LINE__), fail_with_(c, __VA_ARGS__))
#define release_item(c, ...) (conf_at(c, __FILE__, __LINE__), release_(c, __VA_ARGS__))
#define renew_item(c, ...) (conf_at(c, __FILE__, __LINE__), renew_(c, __VA_ARGS__))
#define renew_token(c, ...) (conf_at(c, __FILE__, __LINE__), renew_token_(c, __VA_ARGS__))

/* Fails item n at once until it is a dead letter under the policy; the message must be claimable. */
void kill_message_(struct conf *c, int instance, enum store_kind kind, int n, enum dead_policy policy);
#define kill_message(c, ...) (conf_at(c, __FILE__, __LINE__), kill_message_(c, __VA_ARGS__))
enum store_answer redrive_(struct conf *c, enum store_kind kind, int n);
enum store_answer discard_(struct conf *c, enum store_kind kind, int n);
#define redrive(c, ...) (conf_at(c, __FILE__, __LINE__), redrive_(c, __VA_ARGS__))
#define discard(c, ...) (conf_at(c, __FILE__, __LINE__), discard_(c, __VA_ARGS__))

/* What the store says about itself. */
struct kind_counts counted_(struct conf *c, enum store_kind kind);
struct message_row row_of_(struct conf *c, int n);
size_t rows_with_id_(struct conf *c, int n);
struct instance_row instance_row_(struct conf *c, int n);
bool instance_listed_(struct conf *c, int n);
struct lane_rows lanes_(struct conf *c, enum store_kind kind);
struct why why_(struct conf *c, int n);
#define counted(c, ...) (conf_at(c, __FILE__, __LINE__), counted_(c, __VA_ARGS__))
#define row_of(c, ...) (conf_at(c, __FILE__, __LINE__), row_of_(c, __VA_ARGS__))
#define rows_with_id(c, ...) (conf_at(c, __FILE__, __LINE__), rows_with_id_(c, __VA_ARGS__))
#define instance_row(c, ...) (conf_at(c, __FILE__, __LINE__), instance_row_(c, __VA_ARGS__))
#define instance_listed(c, ...) (conf_at(c, __FILE__, __LINE__), instance_listed_(c, __VA_ARGS__))
#define lanes_listed(c, ...) (conf_at(c, __FILE__, __LINE__), lanes_(c, __VA_ARGS__))
#define why_of(c, ...) (conf_at(c, __FILE__, __LINE__), why_(c, __VA_ARGS__))

/* Lanes of the kind that belong to instance n, draining ones included; that are free; and all moves so far.
 */
int count_owned(struct conf *c, enum store_kind kind, int n);
int count_free(struct conf *c, enum store_kind kind);
int count_draining(struct conf *c, enum store_kind kind);
int64_t count_moves(struct conf *c, enum store_kind kind);

/* The whole logical state as text; from the arena. */
const char *state_text_(struct conf *c);
#define state_text(c) (conf_at(c, __FILE__, __LINE__), state_text_(c))

#endif
