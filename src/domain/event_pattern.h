/* Patterns of event types: exact, suffix, glob and a small regular expression (docs/events.md). */
#ifndef DOMAIN_EVENT_PATTERN_H
#define DOMAIN_EVENT_PATTERN_H

#include "base/arena.h"

enum pattern_mode { PATTERN_EXACT = 1, PATTERN_SUFFIX, PATTERN_GLOB, PATTERN_REGEX };

struct event_pattern {
    enum pattern_mode mode;
    pawl_str text;
};

/* Whether the pattern matches the whole type, letters of any case (ASCII), as pawl.pattern_matches says in
 * SQL. PAWL_INVALID says what is wrong with the pattern and where. The cost is linear in the length of the
 * type. */
PAWL_MUSTCHECK pawl_status event_pattern_matches(const struct event_pattern *pattern, pawl_str type,
                                                 bool *matches, pawl_error *err);

/* "order.*" is a glob; the prefixes "exact:", "suffix:", "glob:" and "regex:" choose the mode. Borrows the
 * text. */
struct event_pattern event_pattern_from(pawl_str text);

#endif
