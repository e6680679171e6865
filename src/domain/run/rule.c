/* Pure rules of runs: endless loops, and what follows the last partition. */
#include "domain/run/rule.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/str.h"

bool runrule_more(const struct runrule_page *page) {
    if (page->said != 0)
        return page->said == 1;
    return page->by_short_page ? page->items >= page->page_size : !str_absent(page->next);
}

enum runrule_loop runrule_loops(const struct runrule_page *page) {
    if (!runrule_more(page))
        return LOOP_NONE;
    if (!str_absent(page->next) && !str_absent(page->cursor) && str_equal(page->next, page->cursor))
        return LOOP_CURSOR;
    if (str_absent(page->next) && page->items == 0)
        return LOOP_EMPTY;
    return page->page + 1 >= PAWL_PAGES_MAX ? LOOP_PAGES : LOOP_NONE;
}

const char *runrule_loop_text(const struct runrule_page *page, char text[static RUNRULE_TEXT_BYTES]) {
    switch (runrule_loops(page)) {
    case LOOP_CURSOR:
        (void)snprintf(text, RUNRULE_TEXT_BYTES,
                       "endless loop: page %" PRId64 " returned the cursor it was fetched with; the handler "
                       "must return the next one, or say that this was the last page",
                       page->page);
        break;
    case LOOP_EMPTY:
        (void)snprintf(text, RUNRULE_TEXT_BYTES,
                       "endless loop: page %" PRId64 " has no items and says that there is more, so offset "
                       "%" PRId64 " would be fetched for ever",
                       page->page, page->offset);
        break;
    case LOOP_PAGES:
        (void)snprintf(text, RUNRULE_TEXT_BYTES,
                       "endless loop: page %" PRId64 " says that there is more, a partition has at most %d "
                       "pages",
                       page->page, PAWL_PAGES_MAX);
        break;
    case LOOP_NONE:
        text[0] = '\0';
        break;
    }
    return text;
}

enum runrule_next runrule_fan_in(int remaining, int failed, bool partial, bool wait) {
    if (remaining > 0)
        return NEXT_NOTHING;
    if (failed == 0 || partial)
        return NEXT_CONSOLIDATE;
    return wait ? NEXT_REPAIR : NEXT_FAIL;
}
