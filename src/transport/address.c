/* Parsing the address of a broker. */
#include "transport/address.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"

static const char *const tls_schemes[] = {"rediss", "amqps", "nats+tls", "kafka+tls", "amqp1+tls", "sb"};

/* NULL: a % without two hex digits, a NUL byte, or no memory. */
static const char *decode(struct arena *arena, pawl_str text) {
    pawl_str decoded = percent_decode(arena, text);
    return decoded.ptr != NULL && memchr(decoded.ptr, '\0', decoded.len) == NULL ? decoded.ptr : NULL;
}

static pawl_status parse_user(struct arena *arena, pawl_str text, struct address *address, pawl_error *err) {
    pawl_str password, user = str_before(text, ':', &password);
    if (user.len > 0)
        address->user = decode(arena, user);
    if (password.ptr != NULL)
        address->password = decode(arena, password);
    if ((user.len > 0 && address->user == NULL) || (password.ptr != NULL && address->password == NULL))
        return error_set(err, PAWL_INVALID, "address",
                         "user or password is not percent-encoded: write %% as %%25 and @ as %%40");
    return PAWL_OK;
}

static pawl_status parse_host(struct arena *arena, pawl_str text, struct address *address, pawl_error *err) {
    address->hosts = arena_copy(arena, text.ptr, text.len);
    pawl_str port, first = str_before(text, ',', NULL);
    if (str_starts_with(first, STR("["))) {
        first = str_before(str_skip(first, 1), ']', &port);
        port = str_starts_with(port, STR(":")) ? str_skip(port, 1) : port;
    } else {
        first = str_before(first, ':', &port);
    }
    if (first.len == 0)
        return error_set(err, PAWL_INVALID, "address", "the address names no host");
    int64_t number = 0;
    if (port.len > 0 && !str_to_i64(port, 1, 65535, &number))
        return error_set(err, PAWL_INVALID, "address", "the port '%.*s' is not a number from 1 to 65535",
                         STR_ARG(port));
    address->port = (int)number;
    address->host = arena_copy(arena, first.ptr, first.len);
    if (address->host == NULL || address->hosts == NULL)
        return error_no_memory(err, "address");
    return PAWL_OK;
}

pawl_status address_parse(struct arena *arena, const char *url, struct address *out, pawl_error *err) {
    struct address address = {0};
    pawl_str rest = str_from(url);
    const char *slashes = rest.ptr != NULL ? strstr(rest.ptr, "://") : NULL;
    if (slashes == NULL || slashes == url)
        return error_set(
            err, PAWL_INVALID, "address",
            "the address is not of the form scheme://host:port, for example redis://localhost:6379");
    address.scheme = arena_copy(arena, url, (size_t)(slashes - url));
    rest = (pawl_str){slashes + 3, rest.len - (size_t)(slashes + 3 - url)};
    pawl_str path, host = str_before(rest, '/', &path);
    /* A password may hold an @: the last one counts. */
    const char *at = host.len > 0 ? memrchr(host.ptr, '@', host.len) : NULL;
    pawl_status status = PAWL_OK;
    if (at != NULL) {
        status = parse_user(arena, (pawl_str){host.ptr, (size_t)(at - host.ptr)}, &address, err);
        host = (pawl_str){at + 1, (size_t)(host.ptr + host.len - at - 1)};
    }
    if (status == PAWL_OK)
        status = parse_host(arena, host, &address, err);
    if (status != PAWL_OK)
        return status;
    if (path.len > 0) {
        address.path = decode(arena, path);
        if (address.path == NULL)
            return error_set(err, PAWL_INVALID, "address", "the path of the address is not percent-encoded");
    }
    if (address.scheme == NULL)
        return error_no_memory(err, "address");
    for (size_t i = 0; i < sizeof(tls_schemes) / sizeof(*tls_schemes); i++)
        address.tls = address.tls || strcmp(address.scheme, tls_schemes[i]) == 0;
    *out = address;
    return PAWL_OK;
}
