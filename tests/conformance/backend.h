/* The backend of a test's store; the only part of the suite that knows stores by name. */
#ifndef CONFORMANCE_BACKEND_H
#define CONFORMANCE_BACKEND_H

#include "store/store.h"

enum { TEST_PARTITIONS = 1000, TEST_LANES = 16 };

struct backend;

/* Starts what the store needs (a server, a pooler, a directory). NULL with a printed reason when it cannot.
 */
struct backend *backend_start(const char *name);
void backend_stop(struct backend *backend); /* takes NULL */

/* The two stores that a differential test compares: SQLite and PostgreSQL (or PAWL_DIFF_SECOND). False, with
 * a printed reason, when one of them cannot run here. */
enum { BACKEND_SIDES = 2 };
bool backend_sides_start(struct backend *sides[static BACKEND_SIDES]);
void backend_sides_stop(struct backend *const sides[static BACKEND_SIDES]);

/* The address of a store nobody has used before, not migrated yet; valid until the next call, which may
 * remove it. */
struct store_config backend_fresh(struct backend *backend);

/* The same; where that saves time it has its schema already, with TEST_PARTITIONS and TEST_LANES. */
struct store_config backend_ready(struct backend *backend);

/* The address given last. */
struct store_config backend_current(struct backend *backend);

/* Whether there is a pooler in front of the store. */
bool backend_pooled(const struct backend *backend);

#endif
