/* Lists of scopes as agents and tasks store them: a JSON array of plain texts without escapes. */
#ifndef DOMAIN_AUTHORITY_SCOPE_LIST_H
#define DOMAIN_AUTHORITY_SCOPE_LIST_H

#include "pawl.h"

/* The next scope of the list at *offset; false at its end. */
bool scope_list_next(pawl_str scopes, size_t *offset, pawl_str *scope);

/* Whether every scope of the second list is covered by one of the first (scope_covers); else *missing is the
 * first that is not. An absent list is empty. */
bool scope_list_covers(pawl_str granted, pawl_str required, pawl_str *missing);

#endif
