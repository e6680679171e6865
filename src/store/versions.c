/* Reporting the versions of the database libraries in use. */
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>

#include "store/store.h"

const char *store_sqlite_version(void) { return sqlite3_libversion(); }

/* libpq gives 150004 for 15.4. */
const char *store_libpq_version(char text[static STORE_VERSION_BYTES]) {
    int version = PQlibVersion();
    snprintf(text, STORE_VERSION_BYTES, "%d.%d", version / 10000, version % 10000);
    return text;
}
