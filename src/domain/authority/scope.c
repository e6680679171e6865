/* Scopes: what an agent may do. */
#include "domain/authority/scope.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

static bool is_scope_char(char c) { return char_is_alnum(c) || (c != '\0' && strchr("._:/-", c) != NULL); }

pawl_status scope_check_name(pawl_str scope, bool granted, pawl_error *err) {
    if (scope.len == 0 || scope.len > PAWL_NAME_BYTES_MAX)
        return error_set(err, PAWL_INVALID, "scope_check_name", "a scope has 1 to %d characters, not %zu",
                         PAWL_NAME_BYTES_MAX, scope.len);
    for (size_t i = 0; i < scope.len; i++) {
        bool star = granted && scope.ptr[i] == '*' && i + 1 == scope.len;
        if (!is_scope_char(scope.ptr[i]) && !star)
            return error_set(err, PAWL_INVALID, "scope_check_name",
                             "the scope '%.*s' is wrong at position %zu: letters, digits and . _ : / - are "
                             "allowed%s",
                             STR_ARG(scope), i + 1, granted ? ", and * at the end" : "");
    }
    return PAWL_OK;
}

bool scope_covers(pawl_str granted, pawl_str required) {
    if (granted.len > 0 && granted.ptr[granted.len - 1] == '*')
        return str_starts_with(required, (pawl_str){granted.ptr, granted.len - 1});
    return granted.len > 0 && str_equal(granted, required);
}

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
