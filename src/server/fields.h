/* Fields that many routes have. */
#ifndef SERVER_FIELDS_H
#define SERVER_FIELDS_H

#include "base/limits.h"
#include "server/route.h"

#define FIELD_ROW_LIMIT                                                                                      \
    {                                                                                                        \
        .name = "limit", .type = FIELD_INT, .min = 1, .max = PAWL_HTTP_LIST_MAX,                             \
        .help = "At most this many rows."                                                                    \
    }
#define FIELD_ROW_CURSOR                                                                                     \
    { .name = "cursor", .type = FIELD_CURSOR, .max = 4096, .help = "The `next` of the page before." }
#define KIND_CHOICES "outbox|inbox|perspective"

#endif
