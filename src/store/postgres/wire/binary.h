/* The binary format of PostgreSQL's values: parameters out, result cells in. */
#ifndef STORE_POSTGRES_WIRE_BINARY_H
#define STORE_POSTGRES_WIRE_BINARY_H

#include <libpq-fe.h>

#include "base/arena.h"
#include "store/rows/value.h"
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

/* PARAMS(params, a, b, ...): see store/rows/value.h. A nil id and an absent text are sent as NULL, and so is
 * an array of nothing else, which every function takes. */
#define PARAMS(params, ...) pg_params_add(params, VALUES(__VA_ARGS__))
void pg_params_add(struct params *params, const struct value *values, size_t count);

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
