/* The table of routes, and finding one. */
#include <string.h>

#include "base/str.h"
#include "operations/tables.h"
#include "server/http/route.h"

/* Those that only a server has. */
static const struct operation_table *const tables[] = {
    &health_routes, &metrics_routes, &session_routes, &status_routes, &message_routes,
    &job_routes,    &mcp_routes,     &bulk_routes,    &doctor_routes, &lease_routes};

/* The tables of the server, then those of the operations. */
static const struct operation *row_at(size_t index) {
    const struct operation *row = operation_in(tables, sizeof tables / sizeof *tables, &index);
    return row != NULL ? row : operation_at(index);
}

const struct operation *route_at(size_t index) {
    const struct operation *row;
    for (size_t i = 0; (row = row_at(i)) != NULL; i++)
        if (row->path != NULL && index-- == 0)
            return row;
    return NULL;
}

static const char *const method_names[METHOD_COUNT] = {"GET", "POST", "PUT", "DELETE"};

const char *method_name(enum http_method method) { return method_names[method]; }

const char *role_name(enum role role) {
    static const char *const names[] = {"none", "viewer", "operator", "worker"};
    return names[role];
}

/* The next segment of a path, without its slash; advances *rest. */
static pawl_str segment(pawl_str *rest) {
    pawl_str part = {rest->ptr + 1, rest->len - 1};
    const char *slash = memchr(part.ptr, '/', part.len);
    if (slash != NULL)
        part.len = (size_t)(slash - part.ptr);
    *rest = (pawl_str){part.ptr + part.len, rest->len - 1 - part.len};
    return part;
}

/* Whether the path fits the template; its {…} go to parts. *words counts the segments that are words. */
static bool fits(const char *template, pawl_str path, struct route_match *match, size_t *words) {
    pawl_str left = str_from(template);
    match->part_count = 0;
    *words = 0;
    while (left.len > 0 && path.len > 0) {
        pawl_str want = segment(&left), have = segment(&path);
        if (want.len > 0 && want.ptr[0] == '{') {
            if (have.len == 0 || match->part_count == ROUTE_PARTS_MAX)
                return false;
            match->parts[match->part_count++] = have;
        } else if (str_equal(want, have)) {
            ++*words;
        } else {
            return false;
        }
    }
    return left.len == 0 && path.len == 0;
}

struct route_match route_find(const char *method, pawl_str path, bool lease_api) {
    struct route_match best = {.route = NULL};
    size_t best_words = 0;
    if (path.len == 0 || path.ptr[0] != '/')
        return best;
    bool head = strcmp(method, "HEAD") == 0;
    const struct operation *route;
    for (size_t i = 0; (route = row_at(i)) != NULL; i++) {
        struct route_match match = {.route = route};
        size_t words;
        if (route->path == NULL || (route->role == ROLE_WORKER && !lease_api) ||
            !fits(route->path, path, &match, &words) || (best.methods != 0 && words < best_words))
            continue;
        if (words > best_words)
            best = (struct route_match){.route = NULL};
        best_words = words;
        unsigned methods = best.methods | 1u << route->method;
        if (strcmp(method_name(route->method), head ? "GET" : method) == 0)
            best = match;
        best.methods = methods;
    }
    return best;
}
