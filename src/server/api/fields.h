/* Inputs that many routes share. */
#ifndef SERVER_API_FIELDS_H
#define SERVER_API_FIELDS_H

#include "base/limits.h"
#include "server/http/route.h"

/* One input of a route; in braces, so that `.required = true` may follow. */
#define FIELD(field_type, place, field_name, text)                                                           \
    .name = (field_name), .in = (place), .type = (field_type), .help = (text)
#define TEXT_FIELD(place, field_name, bytes_max, text)                                                       \
    FIELD(FIELD_TEXT, place, field_name, text), .max = (bytes_max)
#define INT_FIELD(place, field_name, least, most, text)                                                      \
    FIELD(FIELD_INT, place, field_name, text), .min = (least), .max = (most)
#define CHOICE_FIELD(place, field_name, words, text)                                                         \
    FIELD(FIELD_CHOICE, place, field_name, text), .choices = (words)

#define FIELD_ROW_LIMIT                                                                                      \
    {                                                                                                        \
        .name = "limit", .type = FIELD_INT, .min = 1, .max = PAWL_HTTP_LIST_MAX,                             \
        .help = "At most this many rows."                                                                    \
    }
#define FIELD_ROW_CURSOR                                                                                     \
    { .name = "cursor", .type = FIELD_CURSOR, .max = 4096, .help = "The `next` of the page before." }
#define FIELD_ROW_NAME(text)                                                                                 \
    {                                                                                                        \
        .name = "name", .in = IN_PATH, .type = FIELD_TEXT, .required = true, .max = PAWL_STREAM_BYTES_MAX,   \
        .help = (text)                                                                                       \
    }
#define FIELD_ROW_NUMBER(key, text)                                                                          \
    { .name = (key), .in = IN_PATH, .type = FIELD_INT, .required = true, .min = 1, .help = (text) }
#define FIELD_ROW_MESSAGE_ID                                                                                 \
    {                                                                                                        \
        .name = "id", .in = IN_PATH, .type = FIELD_ID, .required = true,                                     \
        .help = "The id, or at least its first 8 characters if they are unique."                             \
    }
#define KIND_CHOICES "outbox|inbox|perspective"

#define ROUTE(route_method, route_path, route_name)                                                          \
    .method = (route_method), .path = (route_path), .name = (route_name)
#define READS(route_path, route_name)                                                                        \
    ROUTE(METHOD_GET, route_path, route_name), .credential = CREDENTIAL_VIEWER
#define ACTS(route_method, route_path, route_name)                                                           \
    ROUTE(route_method, route_path, route_name), .credential = CREDENTIAL_OPERATOR

#define ROUTE_TABLE(array)                                                                                   \
    { (array), sizeof(array) / sizeof *(array) }

#endif
