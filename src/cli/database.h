/* Opening the database that the options name. */
#ifndef CLI_DATABASE_H
#define CLI_DATABASE_H

#include "cli/cli.h"

/* What the options say about the database; texts borrow from the options. */
struct store_config database_config(const struct cli *cli);

/* Opens cli->store as the command needs it. A missing SQLite file is an error, or is made (and that is said).
 */
PAWL_MUSTCHECK pawl_status database_open(struct cli *cli, pawl_error *err);

/* The SQLite file that config names and that does not exist, or NULL. */
const char *database_missing_file(const struct store_config *config);

/* The address as it may be shown, in the arena; NULL when there is no memory. */
const char *database_shown(struct cli *cli);

#endif
