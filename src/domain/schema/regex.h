/* Regular expressions as JSON Schema means them (ECMA-262, Unicode), with a bound on their work. */
#ifndef DOMAIN_SCHEMA_REGEX_H
#define DOMAIN_SCHEMA_REGEX_H

#include "pawl.h"

struct regex; /* immutable; threads share it */

/* PAWL_INVALID says what is wrong and at which position of the pattern. */
PAWL_MUSTCHECK pawl_status regex_compile(pawl_str pattern, struct regex **regex, pawl_error *err);
void regex_free(struct regex *regex); /* takes NULL */

/* Whether the pattern is found anywhere in text. PAWL_INVALID when that takes more work than allowed. */
PAWL_MUSTCHECK pawl_status regex_search(const struct regex *regex, pawl_str text, bool *found,
                                        pawl_error *err);

#endif
