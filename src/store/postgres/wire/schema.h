/* Replacing the schema name in SQL text that uses the name pawl. */
#ifndef STORE_POSTGRES_WIRE_SCHEMA_H
#define STORE_POSTGRES_WIRE_SCHEMA_H

#include "base/buf.h"
#include "pawl.h"

/*
 * Appends text with the schema's name in place of pawl: where it qualifies a name (pawl.claim, also inside
 * quotes), alone in quotes, after the word SCHEMA, and as the prefix of the second schema (pawl_internal) and
 * of the roles (pawl_owner …). schema has passed name_check_schema.
 */
void pg_schema_substitute(struct buf *buf, const char *text, const char *schema);

#endif
