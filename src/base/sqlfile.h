/* The shape of SQL text that is embedded in the library. */
#ifndef BASE_SQLFILE_H
#define BASE_SQLFILE_H

#include <stddef.h>

/* A migration, function or invariant: run as a whole, with its comments. */
struct sql_file {
    const char *name; /* of the migration, e.g. 0001_schema, or of the statement */
    const char *text;
    const char *sha256; /* of the text, 64 hex digits */
};

/* One statement, looked up by its enum value. The contract header is left out of the text. */
struct sql_query {
    const char *name;
    const char *text;
};

#endif
