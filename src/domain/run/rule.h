/* Pure rules of runs: whether there is more, what is an endless loop, what follows the last partition
 * (docs/runs.md). */
#ifndef DOMAIN_RUN_RULE_H
#define DOMAIN_RUN_RULE_H

#include "pawl.h"

/* A page as returned by its handler. */
struct runrule_page {
    int64_t page;       /* its number */
    int64_t offset;     /* where it began */
    pawl_str cursor;    /* it was fetched with; absent: none */
    pawl_str next;      /* cursor of the next one; absent: none */
    int64_t items;      /* it had */
    int64_t page_size;  /* it was asked for */
    bool by_short_page; /* the run's end rule; else the handler says when it ends */
    int said;           /* 0 = nothing, 1 = there is more, 2 = this was the last */
};

bool runrule_more(const struct runrule_page *page);

/* Why continuing would never end; 0 if it would. */
enum runrule_loop { LOOP_NONE = 0, LOOP_CURSOR, LOOP_EMPTY, LOOP_PAGES };
enum runrule_loop runrule_loops(const struct runrule_page *page);

enum { RUNRULE_TEXT_BYTES = 256 };
/* Writes the error message for a loop into text, and returns it. */
const char *runrule_loop_text(const struct runrule_page *page, char text[static RUNRULE_TEXT_BYTES]);

/* What follows when a partition has ended. */
enum runrule_next { NEXT_NOTHING = 0, NEXT_CONSOLIDATE, NEXT_FAIL, NEXT_REPAIR };
enum runrule_next runrule_fan_in(int remaining, int failed, bool partial, bool wait);

#endif
