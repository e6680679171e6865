/* The state of a PostgreSQL database: every table is copied into a schema of the observer's own when it has
 * changed. */
#include "sweep/state.h"
const struct state_ops state_postgres;
