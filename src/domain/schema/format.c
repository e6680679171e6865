/* The formats of JSON Schema: dates, addresses, identifiers. */
#include <arpa/inet.h>
#include <string.h>

#include "base/str.h"
#include "base/time/civil.h"
#include "domain/schema/int.h"
#include "domain/schema/regex.h"
#include "domain/schema/uri_format.h"

/* A text that is read from left to right. */
struct text {
    const char *ptr, *end;
};

static char peek(const struct text *text) { return text->ptr < text->end ? *text->ptr : '\0'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool take(struct text *text, char c) {
    bool there = text->ptr < text->end && *text->ptr == c;
    text->ptr += there ? 1 : 0;
    return there;
}

static bool take_digits(struct text *text, int count, int min, int max, int *value) {
    int number = 0;
    for (int i = 0; i < count; i++, text->ptr++) {
        if (!is_digit(peek(text)))
            return false;
        number = number * 10 + (*text->ptr - '0');
    }
    *value = number;
    return number >= min && number <= max;
}

static bool take_date(struct text *text) {
    int year = 0;
    int month = 0;
    int day = 0;
    return take_digits(text, 4, 0, 9999, &year) && take(text, '-') && take_digits(text, 2, 1, 12, &month) &&
           take(text, '-') && take_digits(text, 2, 1, civil_month_days(year, month), &day);
}

/* With an offset; a leap second only where there can be one: at 23:59 UTC. */
static bool take_time(struct text *text) {
    int hour = 0;
    int minute = 0;
    int second = 0;
    int offset_hour = 0;
    int offset_minute = 0;
    if (!take_digits(text, 2, 0, 23, &hour) || !take(text, ':') || !take_digits(text, 2, 0, 59, &minute) ||
        !take(text, ':') || !take_digits(text, 2, 0, 60, &second))
        return false;
    if (take(text, '.')) {
        if (!is_digit(peek(text)))
            return false;
        while (is_digit(peek(text)))
            text->ptr++;
    }
    int direction = 1;
    if (!take(text, 'Z') && !take(text, 'z')) {
        if (take(text, '+'))
            direction = -1;
        else if (!take(text, '-'))
            return false;
        if (!take_digits(text, 2, 0, 23, &offset_hour) || !take(text, ':') ||
            !take_digits(text, 2, 0, 59, &offset_minute))
            return false;
    }
    int utc = (hour * 60 + minute + direction * (offset_hour * 60 + offset_minute) + 2 * 1440) % 1440;
    return second < 60 || utc == 23 * 60 + 59;
}

static bool is_date(struct text text) { return take_date(&text) && text.ptr == text.end; }
static bool is_time(struct text text) { return take_time(&text) && text.ptr == text.end; }

static bool is_date_time(struct text text) {
    return take_date(&text) && (take(&text, 'T') || take(&text, 't')) && take_time(&text) &&
           text.ptr == text.end;
}

/* Numbers with units in order; at least one. Returns how many, or -1. */
static int take_units(struct text *text, const char *units) {
    int count = 0;
    bool gap = false;
    for (; *units != '\0'; units++) {
        struct text before = *text;
        while (is_digit(peek(text)))
            text->ptr++;
        if (text->ptr > before.ptr && peek(text) == *units) {
            if (gap && count > 0)
                return -1; /* P1Y2D: the months are missing */
            text->ptr++;
            count++;
            gap = false;
        } else {
            *text = before;
            gap = count > 0;
        }
    }
    return count;
}

static bool is_duration(struct text text) {
    if (!take(&text, 'P'))
        return false;
    int dates = take_units(&text, "YMD");
    int times = 0;
    if (dates == 0 && take_units(&text, "W") == 1)
        return text.ptr == text.end;
    bool has_time = take(&text, 'T');
    if (has_time)
        times = take_units(&text, "HMS");
    return dates >= 0 && times >= 0 && text.ptr == text.end && (has_time ? times > 0 : dates > 0);
}

static bool is_hostname(struct text text) {
    if (text.ptr == text.end || text.end - text.ptr > 253)
        return false;
    size_t label = 0;
    for (const char *at = text.ptr; at <= text.end; at++) {
        if (at == text.end || *at == '.') {
            if (label == 0 || label > 63 || at[-1] == '-')
                return false;
            label = 0;
        } else if (is_letter(*at) || is_digit(*at) || (*at == '-' && label > 0)) {
            label++;
        } else {
            return false;
        }
    }
    return true;
}

static bool is_address(struct text text, int family) {
    char copy[64];
    uint8_t bytes[16];
    size_t length = (size_t)(text.end - text.ptr);
    if (length >= sizeof(copy) || memchr(text.ptr, '\0', length) != NULL)
        return false;
    memcpy(copy, text.ptr, length);
    copy[length] = '\0';
    return inet_pton(family, copy, bytes) == 1;
}

static bool is_ipv4(struct text text) { return is_address(text, AF_INET); }
static bool is_ipv6(struct text text) { return is_address(text, AF_INET6); }

/* What precedes the @ of a mail address without quotes. */
static bool is_atoms(struct text text, bool foreign) {
    bool dot = true;
    for (; text.ptr < text.end; text.ptr++) {
        char c = *text.ptr;
        if (c == '.') {
            if (dot)
                return false;
            dot = true;
            continue;
        }
        dot = false;
        if (!is_letter(c) && !is_digit(c) && (c == '\0' || strchr("!#$%&'*+-/=?^_`{|}~", c) == NULL) &&
            !(foreign && (unsigned char)c >= 0x80))
            return false;
    }
    return !dot;
}

static bool is_quoted(struct text text) {
    if (text.end - text.ptr < 2 || *text.ptr != '"' || text.end[-1] != '"')
        return false;
    for (const char *at = text.ptr + 1; at < text.end - 1; at++) {
        if (*at == '\\' && ++at == text.end - 1)
            return false;
        if ((unsigned char)*at < 0x20 || (*at == '"' && at[-1] != '\\'))
            return false;
    }
    return true;
}

static bool is_mail_host(struct text host, bool foreign) {
    if (host.ptr < host.end && *host.ptr == '[' && host.end[-1] == ']') {
        struct text inner = {host.ptr + 1, host.end - 1};
        if (inner.end - inner.ptr > 5 && strncasecmp(inner.ptr, "IPv6:", 5) == 0)
            return is_ipv6((struct text){inner.ptr + 5, inner.end});
        return is_ipv4(inner);
    }
    if (!foreign)
        return is_hostname(host);
    for (const char *at = host.ptr; at < host.end; at++)
        if ((unsigned char)*at < 0x80 && !is_letter(*at) && !is_digit(*at) && *at != '-' && *at != '.')
            return false;
    return host.ptr < host.end;
}

static bool is_mail(struct text text, bool foreign) {
    const char *at = memrchr(text.ptr, '@', (size_t)(text.end - text.ptr));
    if (at == NULL)
        return false;
    struct text local = {text.ptr, at};
    return (is_quoted(local) || is_atoms(local, foreign)) &&
           is_mail_host((struct text){at + 1, text.end}, foreign);
}

static bool is_email(struct text text) { return is_mail(text, false); }
static bool is_idn_email(struct text text) { return is_mail(text, true); }

static bool is_uuid(struct text text) {
    if (text.end - text.ptr != 36)
        return false;
    for (int i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text.ptr[i] != '-' : !is_hex(text.ptr[i]))
            return false;
    }
    return true;
}

static bool is_pointer(struct text text) {
    if (text.ptr < text.end && *text.ptr != '/')
        return false;
    for (; text.ptr < text.end; text.ptr++)
        if (*text.ptr == '~' && (text.ptr + 1 == text.end || (text.ptr[1] != '0' && text.ptr[1] != '1')))
            return false;
    return true;
}

static bool is_relative_pointer(struct text text) {
    const char *start = text.ptr;
    while (is_digit(peek(&text)))
        text.ptr++;
    if (text.ptr == start || (*start == '0' && text.ptr - start > 1))
        return false;
    return (take(&text, '#') && text.ptr == text.end) || is_pointer(text);
}

static bool is_regex(struct text text) {
    struct regex *regex = NULL;
    pawl_status status = regex_compile((pawl_str){text.ptr, (size_t)(text.end - text.ptr)}, &regex, NULL);
    regex_free(regex);
    return status == PAWL_OK;
}

static pawl_str str_of(struct text text) { return (pawl_str){text.ptr, (size_t)(text.end - text.ptr)}; }
static bool is_uri(struct text text) { return uri_format_ok(str_of(text), true, false); }
static bool is_uri_reference(struct text text) { return uri_format_ok(str_of(text), false, false); }
static bool is_iri(struct text text) { return uri_format_ok(str_of(text), true, true); }
static bool is_iri_reference(struct text text) { return uri_format_ok(str_of(text), false, true); }
static bool is_uri_template(struct text text) { return uri_template_ok(str_of(text)); }

static const struct {
    const char *name;
    bool (*ok)(struct text text);
} formats[] = {
    {"date-time", is_date_time},
    {"date", is_date},
    {"time", is_time},
    {"duration", is_duration},
    {"email", is_email},
    {"idn-email", is_idn_email},
    {"hostname", is_hostname},
    {"ipv4", is_ipv4},
    {"ipv6", is_ipv6},
    {"uri", is_uri},
    {"uri-reference", is_uri_reference},
    {"iri", is_iri},
    {"iri-reference", is_iri_reference},
    {"uri-template", is_uri_template},
    {"uuid", is_uuid},
    {"json-pointer", is_pointer},
    {"relative-json-pointer", is_relative_pointer},
    {"regex", is_regex},
};

bool schema_format_ok(pawl_str format, pawl_str text) {
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (str_equal_cstr(format, formats[i].name))
            return formats[i].ok((struct text){text.ptr, text.ptr + text.len});
    return true;
}
