/* Reading messages out of rows. */
#ifndef STORE_SQLITE_MESSAGES_ITEM_H
#define STORE_SQLITE_MESSAGES_ITEM_H

#include "store/sqlite/file/operation.h"

/* How many columns item_read takes: id … payload, in the order of the queries. */
enum { ITEM_COLUMNS = 12 };

/* Fills id, partition, put_ms and the texts from the columns first … first + ITEM_COLUMNS - 1; the rest is 0.
 */
void item_read(struct statement *s, int first, struct arena *arena, struct item *item);

#endif
