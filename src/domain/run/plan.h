/* Splitting a run: a list of partitions, or a range of numbers or days cut into parts. */
#ifndef DOMAIN_RUN_PLAN_H
#define DOMAIN_RUN_PLAN_H

#include "base/json/tree.h"
#include "pawl.h"

/* One partition: read page by page, independently of the others. */
struct run_part {
    pawl_str id;              /* 1 … PAWL_PARTITION_NAME_BYTES_MAX bytes, once in a run */
    const struct tree *value; /* an object: its id and other members (from, to, …) */
    bool bounded;             /* its edges are whole numbers or days: low included, high not */
    int64_t low, high;        /* days are counted from 1970-01-01 */
};

struct run_parts {
    const struct run_part *parts; /* in the order of the plan */
    size_t count;
};

/*
 * Each reads one kind of plan. PAWL_INVALID names the location and the reason. docs/running-runs.md
 * describes the plans:
 *   list   ["a", {"id": "b", "from": 0, "to": 100}, …]
 *   range  {"from": 0, "to": 1000, "parts": 8} or {…, "step": 125}; to is not part of the range
 *   dates  {"from": "2026-01-01", "to": "2027-01-01", "every": "month"} or {…, "parts": 12}
 */
PAWL_MUSTCHECK pawl_status run_plan_list(struct arena *arena, const struct tree *list, struct run_parts *out,
                                         pawl_error *err);
PAWL_MUSTCHECK pawl_status run_plan_range(struct arena *arena, const struct tree *range,
                                          struct run_parts *out, pawl_error *err);
PAWL_MUSTCHECK pawl_status run_plan_dates(struct arena *arena, const struct tree *dates,
                                          struct run_parts *out, pawl_error *err);

#endif
