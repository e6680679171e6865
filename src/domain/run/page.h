/* What a handler says of a page: its items, how it goes on, whether that was the end; and what is wrong with
 * it. */
#ifndef DOMAIN_RUN_PAGE_H
#define DOMAIN_RUN_PAGE_H

#include "base/json/tree.h"
#include "pawl.h"

/* How a partition moves forward. */
enum run_paging { RUN_BY_CURSOR = 1, RUN_BY_OFFSET };

/* Who says that a partition is finished. */
enum run_end_rule {
    RUN_END_SAID = 1, /* the handler: "end": true, or "next": null */
    RUN_END_SHORT     /* a page with fewer items than asked for */
};

/* Where things are in the handler's answer: paths such as "data.rows"; absent = the name itself. */
struct run_page_map {
    pawl_str items, key, next, end, total;
};

/* What was asked for. */
struct run_page_ask {
    enum run_paging paging;
    enum run_end_rule end_rule;
    struct run_page_map map;
    int64_t offset;
    pawl_str cursor; /* JSON as it was stored; absent = the first page */
    int limit;
};

struct run_page_item {
    pawl_str key;  /* decoded text; of a number, its digits */
    pawl_str json; /* the item as JSON */
};

struct run_page {
    struct run_page_item *items; /* as they came; a key may come twice */
    size_t count;
    bool end;
    pawl_str cursor;        /* RUN_BY_CURSOR: JSON of the next page's cursor; absent at the end */
    int64_t total;          /* items of the partition, as the source says; -1 = it does not */
    int64_t retry_after_ms; /* "retry_after": the source wants no question before; -1 = it did not say */
    bool throttled;         /* that is all it said: there are no items, ask for the same page later */
};

/* Reads what the handler answered. PAWL_INVALID: what is wrong, so that the author can find it: items without
 * keys, more items than asked for, a cursor that does not change, nothing said of how it goes on. */
PAWL_MUSTCHECK pawl_status run_page_read(struct arena *arena, const struct tree *answer,
                                         const struct run_page_ask *ask, struct run_page *page,
                                         pawl_error *err);

#endif
