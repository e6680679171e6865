/* Opening the database that the options name. */
#ifndef CLI_DATABASE_H
#define CLI_DATABASE_H

#include "cli/cli.h"

/* What the options say about the database; texts borrow from the options. */
struct store_config database_config(const struct cli *cli);

/* Opens cli->store as the command needs it. A missing SQLite file is an error, or is made (and that is said).
 */
PAWL_MUSTCHECK pawl_status database_open(struct cli *cli, pawl_error *err);

/* The address as it may be shown, in the arena; NULL when there is no memory. */
const char *database_shown(struct cli *cli);

#endif
