/* Whether a text is an address or a template of one. */
#include "domain/schema/uri_format.h"

#include <arpa/inet.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static bool is_one_of(char c, const char *set) { return c != '\0' && strchr(set, c) != NULL; }

/* Letters, digits, %41 and what more allows. */
static bool all_allowed(const char *ptr, const char *end, const char *more, bool foreign) {
    for (; ptr < end; ptr++) {
        if (*ptr == '%') {
            if (end - ptr < 3 || !is_hex(ptr[1]) || !is_hex(ptr[2]))
                return false;
            ptr += 2;
        } else if (!is_letter(*ptr) && !is_digit(*ptr) && !is_one_of(*ptr, "-._~!$&'()*+,;=") &&
                   !is_one_of(*ptr, more) && !(foreign && (unsigned char)*ptr >= 0x80)) {
            return false;
        }
    }
    return true;
}

static bool is_literal_address(const char *ptr, const char *end) {
    char copy[64];
    uint8_t bytes[16];
    if (end - ptr >= (long)sizeof(copy))
        return false;
    memcpy(copy, ptr, (size_t)(end - ptr));
    copy[end - ptr] = '\0';
    if (copy[0] == 'v' || copy[0] == 'V')
        return end - ptr > 3 && is_hex(copy[1]) && strchr(copy, '.') != NULL;
    return inet_pton(AF_INET6, copy, bytes) == 1;
}

static bool is_authority(const char *ptr, const char *end, bool foreign) {
    const char *at = memrchr(ptr, '@', (size_t)(end - ptr));
    if (at != NULL && !all_allowed(ptr, at, ":", foreign))
        return false;
    const char *host = at != NULL ? at + 1 : ptr;
    const char *host_end = end;
    if (host < end && *host == '[') {
        host_end = memchr(host, ']', (size_t)(end - host));
        if (host_end == NULL || !is_literal_address(host + 1, host_end))
            return false;
        host_end++;
        if (host_end < end && *host_end != ':')
            return false;
    } else {
        const char *colon = memchr(host, ':', (size_t)(end - host));
        host_end = colon != NULL ? colon : end;
        if (!all_allowed(host, host_end, "", foreign))
            return false;
    }
    for (const char *port = host_end + 1; port < end; port++)
        if (!is_digit(*port))
            return false;
    return true;
}

static const char *find_any(const char *ptr, const char *end, const char *set) {
    while (ptr < end && !is_one_of(*ptr, set))
        ptr++;
    return ptr;
}

/* The end of a scheme with its colon, or NULL. */
static const char *scheme_end(const char *ptr, const char *end) {
    if (ptr == end || !is_letter(*ptr))
        return NULL;
    while (ptr < end && (is_letter(*ptr) || is_digit(*ptr) || is_one_of(*ptr, "+-.")))
        ptr++;
    return ptr < end && *ptr == ':' ? ptr + 1 : NULL;
}

bool uri_format_ok(pawl_str text, bool absolute, bool foreign) {
    const char *ptr = text.ptr;
    const char *end = text.ptr + text.len;
    const char *scheme = scheme_end(ptr, end);
    if (scheme == NULL && absolute)
        return false;
    if (scheme != NULL)
        ptr = scheme;
    if (end - ptr >= 2 && ptr[0] == '/' && ptr[1] == '/') {
        const char *authority = find_any(ptr + 2, end, "/?#");
        if (!is_authority(ptr + 2, authority, foreign))
            return false;
        ptr = authority;
    }
    const char *path = find_any(ptr, end, "?#");
    if (scheme == NULL && memchr(ptr, ':', (size_t)(find_any(ptr, path, "/") - ptr)) != NULL)
        return false; /* it would be taken for a scheme */
    const char *query = path < end && *path == '?' ? find_any(path, end, "#") : path;
    return all_allowed(ptr, path, "/:@", foreign) &&
           (query == path || all_allowed(path + 1, query, "/:@?", foreign)) &&
           (query == end || all_allowed(query + 1, end, "/:@?", foreign));
}

/* The inside of {…}: an operator, then names with modifiers. */
static bool is_template_expression(const char *ptr, const char *end) {
    if (ptr < end && is_one_of(*ptr, "+#./;?&=,!@|"))
        ptr++;
    bool name = false;
    for (; ptr < end; ptr++) {
        if (is_letter(*ptr) || is_digit(*ptr) || *ptr == '_' || (name && *ptr == '.')) {
            name = true;
        } else if (*ptr == '%' && end - ptr > 2 && is_hex(ptr[1]) && is_hex(ptr[2])) {
            ptr += 2;
            name = true;
        } else if (name && *ptr == ',') {
            name = false;
        } else if (name && (*ptr == '*' || *ptr == ':')) {
            bool prefix = *ptr == ':';
            const char *digits = ++ptr;
            while (prefix && ptr < end && is_digit(*ptr))
                ptr++;
            if ((prefix && (ptr == digits || ptr - digits > 4)) || (ptr < end && *ptr != ','))
                return false;
            ptr--;
        } else {
            return false;
        }
    }
    return name;
}

bool uri_template_ok(pawl_str text) {
    const char *end = text.ptr + text.len;
    for (const char *ptr = text.ptr; ptr < end; ptr++) {
        if (*ptr == '{') {
            const char *close = memchr(ptr, '}', (size_t)(end - ptr));
            if (close == NULL || !is_template_expression(ptr + 1, close))
                return false;
            ptr = close;
        } else if ((unsigned char)*ptr <= 0x20 || is_one_of(*ptr, "\"'<>\\^`|}")) {
            return false;
        } else if (*ptr == '%' && (end - ptr < 3 || !is_hex(ptr[1]) || !is_hex(ptr[2]))) {
            return false;
        }
    }
    return true;
}
