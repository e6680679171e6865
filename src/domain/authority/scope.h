/* Scopes: what an agent may do, and whether that covers what a task needs. */
#ifndef DOMAIN_AUTHORITY_SCOPE_H
#define DOMAIN_AUTHORITY_SCOPE_H

#include "base/arena.h"
#include "pawl.h"

/* 1 to PAWL_NAME_BYTES_MAX of a-z A-Z 0-9 . _ : / - and, at the end of a granted one, "*". */
PAWL_MUSTCHECK pawl_status scope_check_name(pawl_str scope, bool granted, pawl_error *err);

/* Whether one granted scope covers a required one: equal, or "tool:fs.*" for "tool:fs.read", "*" for all. */
bool scope_covers(pawl_str granted, pawl_str required);

#endif
