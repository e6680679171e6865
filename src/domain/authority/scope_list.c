/* Lists of scopes as agents and tasks store them. */
#include "domain/authority/scope_list.h"

#include "domain/authority/scope.h"

bool scope_list_next(pawl_str scopes, size_t *offset, pawl_str *scope) {
    size_t at = *offset;
    while (at < scopes.len && scopes.ptr[at] != '"')
        at++;
    if (at >= scopes.len)
        return false;
    size_t first = ++at;
    while (at < scopes.len && scopes.ptr[at] != '"')
        at++;
    *scope = (pawl_str){scopes.ptr + first, at - first};
    *offset = at + 1;
    return true;
}

bool scope_list_covers(pawl_str granted, pawl_str required, pawl_str *missing) {
    pawl_str want, have;
    for (size_t n = 0; scope_list_next(required, &n, &want);) {
        bool found = false;
        for (size_t h = 0; !found && scope_list_next(granted, &h, &have);)
            found = scope_covers(have, want);
        if (!found) {
            *missing = want;
            return false;
        }
    }
    return true;
}
