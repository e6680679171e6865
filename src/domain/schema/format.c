/* The formats of JSON Schema: a pattern for each, and a check of what no pattern can say. */
#include <arpa/inet.h>
#include <string.h>

#include "base/str.h"
#include "base/time/civil.h"
#include "domain/schema/int.h"
#include "domain/schema/regex.h"

#define HEX "[0-9A-Fa-f]"
#define PERCENT "%" HEX "{2}"
#define FOREIGN "\\u0080-\\u{10ffff}" /* letters beyond ASCII, of IRIs and international mail */

/* Addresses (RFC 3986, 3987). f is FOREIGN or nothing. Possessive, so that long ones cost no memory. */
#define URI_CHARS(more, f) "(?:[A-Za-z0-9\\-._~!$&'()*+,;=" more f "]++|" PERCENT ")*+"
#define URI_SCHEME "[A-Za-z][A-Za-z0-9+.\\-]*:"
#define URI_HOST(f) "(?:\\[[^\\]]*\\]|" URI_CHARS("", f) ")"
#define URI_AUTHORITY(f) "(?://(?:" URI_CHARS(":", f) "@)?" URI_HOST(f) "(?::[0-9]*)?(?=[/?#]|$)|(?!//))"
#define URI_REST(f)                                                                                          \
    URI_AUTHORITY(f)                                                                                         \
    URI_CHARS("/:@", f) "(?:\\?" URI_CHARS("/:@?", f) ")?(?:#" URI_CHARS("/:@?", f) ")?$"
#define URI(f) "^" URI_SCHEME URI_REST(f)
/* A colon in the first segment would be taken for the end of a scheme. */
#define URI_REFERENCE(f) "^(?:" URI_SCHEME "|(?![^/?#]*:))" URI_REST(f)

/* Templates of addresses (RFC 6570): {operator name:3,name*}. */
#define TEMPLATE_NAME "(?:[A-Za-z0-9_]|" PERCENT ")(?:[A-Za-z0-9_.]++|" PERCENT ")*+(?:\\*|:[0-9]{1,4})?"
#define TEMPLATE "\\{[+#./;?&=,!@|]?" TEMPLATE_NAME "(?:," TEMPLATE_NAME ")*\\}"

#define LABEL "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?"
#define HOST_NAME "(?=.{1,253}$)" LABEL "(?:\\." LABEL ")*"
#define MAIL_ATOM(f) "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~" f "]+"
#define MAIL_LOCAL(f)                                                                                        \
    "(?:\"(?:[^\"\\\\\\x00-\\x1f]|\\\\[^\\x00-\\x1f])*\"|" MAIL_ATOM(f) "(?:\\." MAIL_ATOM(f) ")*)"
#define MAIL(f, host) "^" MAIL_LOCAL(f) "@(?:\\[[^\\]@]*\\]|" host ")$"

#define POINTER "(?:/(?:[^~]++|~[01])*+)?"
#define DATES "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
#define TIMES "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
#define TIME                                                                                                 \
    "(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\\.[0-9]+)?"                                        \
    "(?:[Zz]|[+\\-](?:[01][0-9]|2[0-3]):[0-5][0-9])$"

static bool is_address(pawl_str text, int family) {
    char copy[64];
    uint8_t bytes[16];
    if (text.len >= sizeof(copy) || memchr(text.ptr, '\0', text.len) != NULL)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return inet_pton(family, copy, bytes) == 1;
}

static bool is_ipv4(pawl_str text) { return is_address(text, AF_INET); }
static bool is_ipv6(pawl_str text) { return is_address(text, AF_INET6); }

/* What is in the brackets; the patterns allow them only around the address of a host. Absent: nothing is. */
static pawl_str literal_of(pawl_str text) {
    pawl_str rest = {NULL, 0};
    (void)str_before(text, '[', &rest);
    return str_absent(rest) ? rest : str_before(rest, ']', NULL);
}

static bool has_uri_host(pawl_str text) {
    pawl_str literal = literal_of(text);
    if (literal.len > 0 && char_lower(literal.ptr[0]) == 'v')
        return literal.len > 3 && hex_digit(literal.ptr[1]) >= 0 &&
               memchr(literal.ptr, '.', literal.len) != NULL;
    return str_absent(literal) || is_ipv6(literal);
}

static bool has_mail_host(pawl_str text) {
    const char *at = memrchr(text.ptr, '@', text.len);
    pawl_str literal = literal_of((pawl_str){at, text.len - (size_t)(at - text.ptr)});
    if (literal.len > 5 && strncasecmp(literal.ptr, "IPv6:", 5) == 0)
        return is_ipv6(str_skip(literal, 5));
    return str_absent(literal) || is_ipv4(literal);
}

static bool is_date(pawl_str text) {
    struct civil civil;
    return civil_parse(text, &civil);
}

/* A leap second only where there can be one: at 23:59 UTC. The pattern has seen to the rest. */
static bool has_second(pawl_str text) {
    const char *t = text.ptr, *zone = text.ptr + text.len - 6;
    if (t[6] != '6')
        return true;
    int minutes = ((t[0] - '0') * 10 + t[1] - '0') * 60 + (t[3] - '0') * 10 + t[4] - '0';
    if (char_lower(text.ptr[text.len - 1]) != 'z') {
        int offset = ((zone[1] - '0') * 10 + zone[2] - '0') * 60 + (zone[4] - '0') * 10 + zone[5] - '0';
        minutes += zone[0] == '+' ? -offset : offset;
    }
    return (minutes + 1440) % 1440 == 23 * 60 + 59;
}

static bool is_date_time(pawl_str text) {
    return is_date((pawl_str){text.ptr, 10}) && has_second(str_skip(text, 11));
}

static bool is_regex(pawl_str text) {
    struct regex *regex = NULL;
    pawl_status status = regex_compile(text, &regex, NULL);
    regex_free(regex);
    return status == PAWL_OK;
}

static const struct schema_format formats[] = {
    {"date-time", "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]" TIME, is_date_time},
    {"date", NULL, is_date},
    {"time", "^" TIME, has_second},
    {"duration", "^P(?:[0-9]+W|(?=[0-9]|T[0-9])" DATES "?(?:" TIMES ")?)$", NULL},
    {"email", MAIL("", HOST_NAME), has_mail_host},
    {"idn-email", MAIL(FOREIGN, "[A-Za-z0-9\\-." FOREIGN "]+"), has_mail_host},
    {"hostname", "^" HOST_NAME "$", NULL},
    {"ipv4", NULL, is_ipv4},
    {"ipv6", NULL, is_ipv6},
    {"uri", URI(""), has_uri_host},
    {"uri-reference", URI_REFERENCE(""), has_uri_host},
    {"iri", URI(FOREIGN), has_uri_host},
    {"iri-reference", URI_REFERENCE(FOREIGN), has_uri_host},
    {"uri-template", "^(?:[^\\x00- \"'<>\\\\^`{|}%]++|" PERCENT "|" TEMPLATE ")*+$", NULL},
    {"uuid", "^" HEX "{8}-(?:" HEX "{4}-){3}" HEX "{12}$", NULL},
    {"json-pointer", "^" POINTER "$", NULL},
    {"relative-json-pointer", "^(?:0|[1-9][0-9]*)(?:#|" POINTER ")$", NULL},
    {"regex", NULL, is_regex},
};

const struct schema_format *schema_format_find(pawl_str name) {
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (str_equal_cstr(name, formats[i].name))
            return &formats[i];
    return NULL;
}
