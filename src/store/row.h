/* Rows described once: what a loop has to know of their members to read, bind and show them. */
#ifndef STORE_ROW_H
#define STORE_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "pawl.h"

enum member_type {
    MEMBER_NONE,
    MEMBER_INT,
    MEMBER_ENUM,
    MEMBER_BIG, /* int64_t */
    MEMBER_BOOL,
    MEMBER_TEXT,
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
             : MEMBER_ENUM, int64_t                                                                          \
             : MEMBER_BIG, bool                                                                              \
             : MEMBER_BOOL, pawl_str                                                                         \
             : MEMBER_TEXT, pawl_uuid                                                                        \
             : MEMBER_UUID)
#define MEMBER(row, name)                                                                                    \
    { offsetof(row, name), MEMBER_TYPE(row, name) }

/* The members that SQL selects, in its order. */
struct row_shape {
    const struct member *members;
    size_t count, size; /* size: of the struct */
};

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

/* Of the rows that both stores read. */
extern const struct row_shape task_shape, schedule_shape, agent_shape, refusal_shape, task_run_shape;
extern const struct row_shape job_counts_shape, job_limit_shape, job_step_shape, job_dead_group_shape;
extern const struct row_shape run_shape, run_sums_shape, partition_shape, stored_item_shape, run_target_shape;
extern const struct row_shape duty_shape, refused_shape, pause_shape, audit_shape;
extern const struct row_shape alert_shape, alert_rule_shape, alert_change_shape, alert_told_shape;
extern const struct row_shape kind_counts_shape, instance_shape, lane_shape, dead_group_shape, receptor_shape;
extern const struct row_shape event_shape, checkpoint_shape, checkpoint_error_shape, perspective_shape;

#endif
