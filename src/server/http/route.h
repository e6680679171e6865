/* The routes of the HTTP API: the operations that have one, and finding one. */
#ifndef SERVER_HTTP_ROUTE_H
#define SERVER_HTTP_ROUTE_H

#include "operations/front/operation.h"

/* All routes: NULL after the last. */
const struct operation *route_at(size_t index);

extern const struct operation_table health_routes, metrics_routes, session_routes, status_routes,
    message_routes, job_routes, mcp_routes, bulk_routes, doctor_routes, lease_routes;

const char *method_name(enum http_method method);
const char *role_name(enum role role);

enum { ROUTE_PARTS_MAX = 8 };

/* The result of looking up a path. */
struct route_match {
    const struct operation *route;   /* NULL: none for this method */
    unsigned methods;                /* bits of the methods that the path has; 0: no such path */
    pawl_str parts[ROUTE_PARTS_MAX]; /* the {…} of the path in order, as they were sent */
    size_t part_count;
};

/* A literal segment wins over a {…}. lease_api: whether the routes of workers exist. */
struct route_match route_find(const char *method, pawl_str path, bool lease_api);

#endif
