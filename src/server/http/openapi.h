/* The OpenAPI 3.1 document of the API, made from the table of routes. */
#ifndef SERVER_HTTP_OPENAPI_H
#define SERVER_HTTP_OPENAPI_H

#include "base/json/json.h"

void openapi_write(struct json_writer *json);

#endif
