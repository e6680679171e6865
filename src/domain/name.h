/* Checking names of streams, types, topics, services and schemas. */
#ifndef DOMAIN_NAME_H
#define DOMAIN_NAME_H

#include "pawl.h"

/* Each returns PAWL_INVALID with an explanation if the name is empty, too long, not UTF-8 or has control
 * characters. */
PAWL_MUSTCHECK pawl_status name_check_stream(pawl_str stream, pawl_error *err);
PAWL_MUSTCHECK pawl_status name_check_type(pawl_str type, pawl_error *err);
PAWL_MUSTCHECK pawl_status name_check_topic(pawl_str topic, pawl_error *err);

/* Services, hosts, handlers, perspectives, consumers; `what` names it in the error. */
PAWL_MUSTCHECK pawl_status name_check(pawl_str name, const char *what, pawl_error *err);

/* A schema's name goes into SQL text as it is: [a-z_][a-z0-9_]*, at most 31 bytes, not starting with pg_. */
PAWL_MUSTCHECK pawl_status name_check_schema(pawl_str schema, pawl_error *err);

#endif
