/* A migrated database that is copied for every test: a copy takes a tenth of the time of a migration. */
#ifndef CONFORMANCE_PGTEMPLATE_H
#define CONFORMANCE_PGTEMPLATE_H

#include "store/store.h"
#include "support/pgserver.h"

struct pgtemplate;

/* Makes the database and its schema pawl. NULL, with the reason on stderr, when that fails. */
struct pgtemplate *pgtemplate_make(const struct migrate_config *migrate);

/* Makes a fresh copy and writes its address; drop it with pgserver_drop_database. */
bool pgtemplate_copy(struct pgtemplate *template, char url[static PGSERVER_URL_BYTES]);

void pgtemplate_free(struct pgtemplate *template); /* takes NULL; drops the template, not the copies */

#endif
