/* Patterns as PostgreSQL gives them. */
#ifndef STORE_POSTGRES_EVENTS_PERSPECTIVES_H
#define STORE_POSTGRES_EVENTS_PERSPECTIVES_H

#include "store/postgres/query.h"

/* "mode text" on a line each; returns how many. No memory sets *failed. */
size_t pg_patterns_take(struct cell lines, struct arena *arena, struct event_pattern **out, bool *failed);

#endif
