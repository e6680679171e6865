/* Row descriptions: declared once per kind of row, so that loops can read, bind and show its members. */
#ifndef STORE_ROW_H
#define STORE_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "pawl.h"
#include "store/rows/each.h"

enum member_type {
    MEMBER_NONE,
    MEMBER_INT,
    MEMBER_SMALL, /* an int or an enum that PostgreSQL keeps in two bytes */
    MEMBER_BIG,   /* int64_t */
    MEMBER_BOOL,
    MEMBER_TEXT,
    MEMBER_JSON, /* a text that PostgreSQL takes as json */
    MEMBER_UUID
};

struct member {
    uint16_t offset;
    uint8_t type; /* enum member_type */
};

/* The type follows from the declaration in C; a member of any other type does not compile. */
#define MEMBER_TYPE(row, name)                                                                               \
    _Generic(((row *)0)->name, int                                                                           \
             : MEMBER_INT, unsigned                                                                          \
             : MEMBER_INT, int64_t                                                                           \
             : MEMBER_BIG, size_t                                                                            \
             : MEMBER_BIG, bool                                                                              \
             : MEMBER_BOOL, pawl_str                                                                         \
             : MEMBER_TEXT, pawl_uuid                                                                        \
             : MEMBER_UUID)
#define MEMBER(row, name)                                                                                    \
    { offsetof(row, name), MEMBER_TYPE(row, name) }
#define MEMBER_AS_SMALL(row, name)                                                                           \
    { offsetof(row, name), _Generic(((row *)0)->name, int : MEMBER_SMALL, unsigned : MEMBER_SMALL) }
#define MEMBER_AS_JSON(row, name)                                                                            \
    { offsetof(row, name), _Generic(((row *)0)->name, pawl_str : MEMBER_JSON) }
/* A member in a list: M(name), or SMALL(name) and JSON(name). */
#define MEMBER_M(name) MEMBER, name
#define MEMBER_SMALL(name) MEMBER_AS_SMALL, name
#define MEMBER_JSON(name) MEMBER_AS_JSON, name
#define MEMBER_MAKE(row, make, name) make(row, name)
#define MEMBER_WITH(row, ...) MEMBER_MAKE(row, __VA_ARGS__)
#define MEMBER_OF(row, entry) MEMBER_WITH(row, MEMBER_##entry)

/* The members that SQL selects, in its order. */
struct row_shape {
    const struct member *members;
    size_t count, size; /* size: of the struct */
};

/* The shape of a row that only one file reads. */
#define LOCAL_SHAPE(name, row, ...)                                                                          \
    static const struct member name##_members[] = {EACH(MEMBER_OF, row, __VA_ARGS__)};                       \
    static const struct row_shape name##_shape = ROW_SHAPE(row, name##_members)

#define ROW_SHAPE(row, array)                                                                                \
    { array, sizeof(array) / sizeof *(array), sizeof(row) }

struct row_list {
    void *rows;
    size_t count;
};

/* Where a list goes: the pointer to its rows, their number, and the store's time if the list has it. */
struct rows_out {
    void *rows;
    size_t *count;
    int64_t *now_ms; /* NULL: it has none */
};

#define ROWS_OUT(list, member) ((struct rows_out){&(list)->member, &(list)->count, NULL})
#define ROWS_OUT_NOW(list, member) ((struct rows_out){&(list)->member, &(list)->count, &(list)->now_ms})

void rows_give(struct row_list list, int64_t now_ms, struct rows_out out);

/* Rows of one column: an int64_t, an id, a text. */
extern const struct row_shape number_shape, id_shape, text_shape;
/* What SQL gives and takes, named after the struct. */
/* rows/messages.c */
extern const struct row_shape message_new_shape, item_shape, item_seen_shape, message_view_shape, why_shape,
    message_filter_shape, kind_counts_shape, tally_shape, dead_group_shape, dead_ref_shape,
    complete_item_shape, release_item_shape, item_ref_shape, refused_shape, malformed_shape, pause_shape,
    pause_new_shape, message_shape;
/* rows/fleet.c */
extern const struct row_shape instance_new_shape, instance_shape, instance_grant_shape, beat_shape,
    rebalance_shape, peers_look_shape, grant_held_shape, grants_settled_shape, lane_shape, duty_take_shape,
    duty_grant_shape, duty_shape, audit_shape, settings_shape, settings_change_shape, maintain_shape,
    rollup_shape, point_shape, series_shape, durability_shape;
/* rows/events.c */
extern const struct row_shape event_new_shape, event_shape, append_result_shape, stamp_result_shape,
    snapshot_shape, snapshot_new_shape, perspective_shape, perspective_registered_shape, switch_result_shape,
    perspective_target_shape, perspective_reached_shape, event_pattern_shape, apply_item_shape,
    apply_cut_shape, checkpoint_shape, checkpoint_row_shape, checkpoint_grant_shape, checkpoint_report_shape,
    checkpoint_ref_shape, checkpoint_skip_shape, checkpoint_filter_shape, checkpoint_error_shape,
    attempt_shape, receptor_shape, receptor_report_shape, event_receptor_shape, feed_result_shape,
    event_kept_shape;
/* rows/jobs.c */
extern const struct row_shape job_new_shape, job_shape, job_view_shape, job_filter_shape, job_why_shape,
    job_counts_shape, job_tally_shape, job_priority_shape, job_limit_shape, job_step_shape,
    job_step_new_shape, job_wake_shape, wake_result_shape, renew_item_shape, job_dead_group_shape,
    jobs_maintain_shape, task_shape, task_new_shape, put_answer_shape, put_answer_plain_shape, schedule_shape,
    schedule_new_shape, agent_shape, agent_new_shape, refusal_shape, task_run_shape, task_run_sums_shape,
    audit_report_shape, spine_event_shape;
/* rows/runs.c */
extern const struct row_shape run_shape, run_saved_shape, run_sums_shape, runs_filter_shape,
    run_started_shape, partition_shape, partition_saved_shape, partitions_filter_shape, page_ref_shape,
    page_shape, run_item_shape, page_result_shape, items_filter_shape, stored_item_shape, selected_item_shape,
    partition_reset_shape, run_retried_shape, run_pace_shape, run_target_shape, runs_maintain_shape;
/* rows/alerts.c */
extern const struct row_shape alert_shape, alert_rule_shape, alert_rule_new_shape, alert_silence_shape,
    alert_turn_shape, alert_verdict_shape, alert_change_shape, alert_told_shape, alert_change_new_shape,
    alert_delivery_shape, alert_notice_shape;

#endif
