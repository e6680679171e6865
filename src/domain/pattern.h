/* Patterns for message types: * matches any text, ? one character; case is ignored. */
#ifndef DOMAIN_PATTERN_H
#define DOMAIN_PATTERN_H

#include "pawl.h"

/* Not empty, at most PAWL_PATTERN_BYTES_MAX bytes, no blanks or control characters. */
PAWL_MUSTCHECK pawl_status pattern_check(pawl_str pattern, pawl_error *err);

bool pattern_matches(pawl_str pattern, pawl_str text);

/* Whether `wide` certainly matches everything that `narrow` does: then narrow, if it comes after wide, never
 * gets a message. */
bool pattern_covers(pawl_str wide, pawl_str narrow);

#endif
