/* The binary format of PostgreSQL's values: parameters out, result cells in. */
#ifndef STORE_POSTGRES_WIRE_BINARY_H
#define STORE_POSTGRES_WIRE_BINARY_H

#include <libpq-fe.h>

#include "base/arena.h"
#include "store/row.h"
#include "store/types.h"

enum { PARAMS_MAX = 20 };

/* The parameters of one statement, in its order. Memory comes from the arena; the first failure sets `failed`
 * and is asked for once, by params_status. */
struct params {
    struct arena *arena;
    int count;
    bool failed;
    bool ignored; /* the statement will not be sent: nothing is added */
    Oid types[PARAMS_MAX];
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX];
    int formats[PARAMS_MAX];
};

void pg_params_init(struct params *params, struct arena *arena);
PAWL_MUSTCHECK pawl_status pg_params_status(const struct params *params, const char *op, pawl_error *err);

void pg_params_uuid(struct params *params, pawl_uuid value); /* nil is sent as NULL */
void pg_params_text(struct params *params, pawl_str value);  /* absent is sent as NULL */
void pg_params_json(struct params *params, pawl_str value);
void pg_params_small(struct params *params, int value);
void pg_params_int(struct params *params, int value);
void pg_params_big(struct params *params, int64_t value);
void pg_params_bool(struct params *params, bool value);

/* Members of structs in an array: the first one, and how far it is to the next. An array whose members are
 * all absent is sent as NULL, which every function takes. */
struct strided {
    const void *first;
    size_t stride;
    size_t count;
};

#define STRIDED(array, member, n)                                                                            \
    ((struct strided){(n) > 0 ? &(array)[0].member : NULL, sizeof *(array), (n)})

void pg_params_uuids(struct params *params, struct strided uuids); /* nil members become NULL */
void pg_params_texts(struct params *params, struct strided texts);
void pg_params_jsons(struct params *params, struct strided texts);
void pg_params_bigs(struct params *params, struct strided numbers);   /* of int64_t */
void pg_params_ints(struct params *params, struct strided numbers);   /* of int or an enum */
void pg_params_smalls(struct params *params, struct strided numbers); /* of int or an enum */
void pg_params_bools(struct params *params, struct strided flags);

/* Every member of the shape, in its order: of one row, or an array of each for many rows. */
void pg_params_row(struct params *params, const struct row_shape *shape, const void *row);
void pg_params_rows(struct params *params, const struct row_shape *shape, const void *rows, size_t count);

/* A cell of a binary result. NULL is 0, false, nil or absent. */
struct cell {
    const PGresult *result;
    int row;
    int column;
};

int64_t pg_cell_int(struct cell cell); /* of int2, int4 or int8 */
bool pg_cell_bool(struct cell cell);
pawl_uuid pg_cell_uuid(struct cell cell);

/* A copy in the arena; no memory sets *failed. */
pawl_str pg_cell_text(struct cell cell, struct arena *arena, bool *failed);

/* How many members an array has; member i. */
size_t pg_cell_array_count(struct cell cell);
PAWL_MUSTCHECK bool pg_cell_array_ints(struct cell cell, int *numbers, size_t count);
PAWL_MUSTCHECK bool pg_cell_array_bigs(struct cell cell, int64_t *numbers, size_t count);
PAWL_MUSTCHECK bool pg_cell_array_uuids(struct cell cell, pawl_uuid *uuids, size_t count);

#endif
