/* The alerts interface of the stores: rules, turns to evaluate them, their history, and deliveries
 * (docs/alerts.md). */
#ifndef STORE_ALERTS_H
#define STORE_ALERTS_H

#include "domain/alert.h"
#include "store/fleet.h"

struct store;

struct alert_row {
    struct alert_rule rule;
    struct alert_state state;
    int64_t silence_until_ms; /* 0 or past: not silenced */
    pawl_str silence_reason, silence_by;
};

struct alert_rows {
    struct alert_row *rows; /* by name */
    size_t count;
    int64_t now_ms;
};

struct alert_silence {
    pawl_str name;
    int64_t until_ms; /* 0 = it is taken back */
    pawl_str reason, actor;
};

/* The turn to evaluate: granted once per interval, by the store's clock, to the first caller. */
struct alert_turn {
    bool taken;    /* by the caller; otherwise it is not due before next_ms */
    int64_t token; /* of the turn; a later turn makes it stale */
    int64_t now_ms, next_ms;
    pawl_str window;         /* what the last evaluation left */
    bool due;                /* a delivery, whosoever turn it is */
    struct alert_rows rules; /* of a turn that was taken, as is facts: what they are evaluated with */
    struct fleet_facts facts;
};

/* The result for one rule. */
struct alert_verdict {
    pawl_str rule;
    int64_t version; /* that was evaluated */
    struct alert_state state;
};

/* Something that happened to a rule. */
struct alert_change {
    int64_t number; /* given by the store */
    pawl_uuid id;   /* of its message and its webhook; stable over deliveries */
    pawl_str rule;
    enum alert_event event;
    int64_t value, at_ms;           /* at_ms is given by the store */
    pawl_str detail;                /* JSON: what is delivered */
    int waiting, delivered, failed; /* deliveries; read only */
    pawl_str error;                 /* of the last delivery that failed; read only */
};

/* A change and where it goes: each target is one delivery. */
struct alert_delivery {
    pawl_uuid change;
    pawl_str target;
};

/* What is written together, or not at all. */
struct alert_news {
    const struct alert_change *changes;
    size_t change_count;
    const struct alert_delivery *deliveries;
    size_t delivery_count;
    const pawl_outgoing *messages; /* of the outbox */
    size_t message_count;
};

struct alert_turn_end {
    int64_t token;
    pawl_str window;
    const struct alert_verdict *verdicts;
    size_t verdict_count;
    struct alert_news news;
};

ROW_LIST(alert_changes, struct alert_change, changes); /* the latest first */

/* A delivery that is leased to the caller. */
struct alert_notice {
    int64_t number, token;
    int attempt;    /* this one included */
    int64_t age_ms; /* since the change */
    struct alert_change change;
};

ROW_LIST(alert_notices, struct alert_notice, notices); /* by number */

struct alert_notice_end {
    int64_t number, token;
    bool delivered;
    int64_t delay_ms; /* not delivered: until the next attempt; -1 = it is given up */
    pawl_str error;
};

/* As core.h: every slot is filled by every store, one transaction each, results in the arena. */
struct store_alerts_ops {
#define OPERATION(name, ...) pawl_status (*name)(struct store * store, __VA_ARGS__);
#include "store/operations/alerts.h"
#undef OPERATION
};

PAWL_MUSTCHECK pawl_status check_alert_silence(const struct alert_silence *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_alert_interval(int64_t interval_ms, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_alert_news(const struct alert_news *in, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_alert_take(pawl_str target, int64_t lease_ms, int limit, pawl_error *err);
PAWL_MUSTCHECK pawl_status check_alert_notice_end(const struct alert_notice_end *in, pawl_error *err);

/* The outbox messages of the notifications. */
struct messages_put alert_put(const struct alert_news *in);

#endif
