/* A SQLite database of one test, in a directory of its own. */
#ifndef SUPPORT_SQLITEFILE_H
#define SUPPORT_SQLITEFILE_H

#include "store/store.h"

enum { SQLITEFILE_PATH_BYTES = 128 };

struct sqlitefile {
    char dir[64];
    char path[SQLITEFILE_PATH_BYTES];
};

/* cmocka setup and teardown: *fixture is a struct sqlitefile, without a database yet. */
int sqlitefile_setup(void **fixture);
int sqlitefile_teardown(void **fixture);
#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, sqlitefile_setup, sqlitefile_teardown)

struct store_config sqlitefile_config(const char *path);

/* Migrates with small counts and opens; fail the test when that does not work. */
void sqlitefile_migrate(const char *path);
struct store *sqlitefile_open(const char *path);

/* An instance with a number, a message with a number on a stream. */
pawl_uuid sqlitefile_id(int number);
void sqlitefile_join(struct store *store, int number);
pawl_status sqlitefile_put(struct store *store, int number, const char *stream, pawl_error *err);

/* Runs SQL on the file with a connection of its own; text of the first column of the first row, or "". */
const char *sqlitefile_sql(const char *path, const char *sql, char text[static 64]);

/* Fails the test when an invariant is violated. */
void sqlitefile_check(struct store *store);

#endif
