/* Patterns for message types: * stands for any text, ? for one character, letter case does not matter. */
#ifndef DOMAIN_PATTERN_H
#define DOMAIN_PATTERN_H

#include "pawl.h"

/* Not empty, at most PAWL_PATTERN_BYTES_MAX bytes, no blanks or control characters. */
PAWL_MUSTCHECK pawl_status pattern_check(pawl_str pattern, pawl_error *err);

bool pattern_matches(pawl_str pattern, pawl_str text);

/* Whether everything that `narrow` matches is matched by `wide` too, as far as can be seen: then narrow, when
 * it comes after wide, never gets a message. */
bool pattern_covers(pawl_str wide, pawl_str narrow);

#endif
