/* Scopes: what an agent may do, and whether that covers what a task needs. */
#ifndef DOMAIN_AUTHORITY_SCOPE_H
#define DOMAIN_AUTHORITY_SCOPE_H

#include "base/arena.h"
#include "pawl.h"

/* 1 to PAWL_NAME_BYTES_MAX of a-z A-Z 0-9 . _ : / - and, at the end of a granted one, "*". */
PAWL_MUSTCHECK pawl_status scope_check_name(pawl_str scope, bool granted, pawl_error *err);

/* Whether one granted scope covers a required one: equal, or "tool:fs.*" for "tool:fs.read", "*" for all. */
bool scope_covers(pawl_str granted, pawl_str required);

/* Lists of scopes as agents and tasks store them: a JSON array of plain texts without escapes. The next scope
 * of the list at *offset; false at its end. */
bool scope_list_next(pawl_str scopes, size_t *offset, pawl_str *scope);

/* Whether every scope of the second list is covered by one of the first (scope_covers); else *missing is the
 * first that is not. An absent list is empty. */
bool scope_list_covers(pawl_str granted, pawl_str required, pawl_str *missing);

#endif
