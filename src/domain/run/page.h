/* A handler's answer for a page: its items, how to continue, whether it was the last; and what is wrong with
 * it. */
#ifndef DOMAIN_RUN_PAGE_H
#define DOMAIN_RUN_PAGE_H

#include "base/json/tree.h"
#include "pawl.h"

/* How a partition moves forward. */
enum run_paging { RUN_BY_CURSOR = 1, RUN_BY_OFFSET };

/* How the end of a partition is recognised. */
enum run_end_rule {
    RUN_END_SAID = 1, /* the handler: "end": true, or "next": null */
    RUN_END_SHORT     /* a page with fewer items than asked for */
};

/* Where things are in the handler's answer: paths such as "data.rows"; absent = the name itself. */
struct run_page_map {
    pawl_str items, key, next, end, total;
};

/* The request. */
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
    struct run_page_item *items; /* in their original order; a key may occur twice */
    size_t count;
    bool end;
    pawl_str cursor;        /* RUN_BY_CURSOR: JSON of the next page's cursor; absent at the end */
    int64_t total;          /* total items of the partition according to the source; -1 = unknown */
    int64_t retry_after_ms; /* "retry_after": the source wants no request before then; -1 = not given */
    bool throttled;         /* there is nothing else in the answer: ask for the same page later */
};

/* Reads the handler's answer. PAWL_INVALID explains what is wrong: items without keys, more items than
 * requested, a cursor that does not change, no way to continue. */
PAWL_MUSTCHECK pawl_status run_page_read(struct arena *arena, const struct tree *answer,
                                         const struct run_page_ask *ask, struct run_page *page,
                                         pawl_error *err);

#endif
