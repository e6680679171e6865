/* Scopes: what an agent may do, and whether that covers what a task needs. */
#ifndef DOMAIN_AUTHORITY_SCOPE_H
#define DOMAIN_AUTHORITY_SCOPE_H

#include "base/arena.h"
#include "pawl.h"

/* 1 to PAWL_NAME_BYTES_MAX of a-z A-Z 0-9 . _ : / - and, at the end of a granted one, "*". */
PAWL_MUSTCHECK pawl_status scope_check_name(pawl_str scope, bool granted, pawl_error *err);

/* Whether one granted scope covers a required one: equal, or "tool:fs.*" for "tool:fs.read", "*" for all. */
bool scope_covers(pawl_str granted, pawl_str required);

/* The first required scope that no granted one covers: PAWL_INVALID names it; PAWL_OK when all are covered.
 */
PAWL_MUSTCHECK pawl_status scope_require(const pawl_str *granted, size_t granted_count,
                                         const pawl_str *required, size_t required_count, pawl_error *err);

/* The scope a tool needs when its registration names none: "tool:" and its name. */
PAWL_MUSTCHECK pawl_status scope_of_tool(struct arena *arena, pawl_str uses, pawl_str *scope,
                                         pawl_error *err);

#endif
