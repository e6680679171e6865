/* What base computes and accepts, compared with a running PostgreSQL. */
#include "support/check.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "support/pgserver.h"

/* Small and repeatable; quality does not matter here. */
static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

static int open_connection(void **fixture) {
    PGconn *conn = PQconnectdb(pgserver_url());
    *fixture = conn;
    return PQstatus(conn) == CONNECTION_OK ? 0 : -1;
}

static int close_connection(void **fixture) {
    PQfinish(*fixture);
    return 0;
}

/* Text of up to characters_max characters of one to four bytes, NUL-terminated; returns its length in bytes.
 */
static size_t random_text(uint64_t *seed, size_t characters, char *out) {
    static const char *const pieces[] = {
        "a", "B", "7", "-", " ", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8e\x89"};
    size_t len = 0;
    for (size_t i = 0; i < characters; i++) {
        const char *piece = pieces[next_random(seed) % (sizeof pieces / sizeof pieces[0])];
        memcpy(out + len, piece, strlen(piece));
        len += strlen(piece);
    }
    out[len] = '\0';
    return len;
}

/* covers: B3.2 W35 */
static void stream_hash_is_hashtextextended(void **fixture) {
    PGconn *conn = *fixture;
    uint64_t seed = 20260101;
    for (int round = 0; round < 2000; round++) {
        char text[65 * 4 + 1];
        size_t len = random_text(&seed, (size_t)round % 65, text);
        const char *values[] = {text};
        PGresult *result =
            PQexecParams(conn, "select hashtextextended($1::text, 0)", 1, NULL, values, NULL, NULL, 0);
        assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
        int64_t expected = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
        if (hash_stream((pawl_str){text, len}) != (uint64_t)expected)
            fail_msg("'%s': %" PRIu64 " is not %" PRIu64, text, hash_stream((pawl_str){text, len}),
                     (uint64_t)expected);
        PQclear(result);
    }
}

static bool postgres_takes(PGconn *conn, const char *text) {
    const char *values[] = {text};
    PGresult *result = PQexecParams(conn, "select $1::jsonb", 1, NULL, values, NULL, NULL, 0);
    bool taken = PQresultStatus(result) == PGRES_TUPLES_OK;
    PQclear(result);
    return taken;
}

/* Where our limits are narrower than the server's. */
static bool is_our_limit(const char *reason) {
    return strcmp(reason, "nested too deeply") == 0 ||
           strcmp(reason, "the number's exponent is larger than 9999") == 0 ||
           strcmp(reason, "the number has too many digits") == 0;
}

/* Whatever we accept, the server accepts; whatever we refuse, it refuses too, but for the limits. */
static void json_validator_agrees_with_jsonb(void **fixture) {
    static const char *const pieces[] = {
        "{",           "}",           "[",       "]",           ",",
        ":",           "\"a\"",       "\"\"",    "1",           "-0.5e3",
        "true",        "null",        " ",       "\"\\u00e9\"", "\"\\ud83c\\udf89\"",
        "\"\\u0000\"", "\"\\ud800\"", "{\"k\":", "1e5000",      "\"\xc3\xa9\"",
        "01",          "\"\\x\"",     "\t",      "false",       "-"};
    PGconn *conn = *fixture;
    uint64_t seed = 7;
    int valid = 0;
    for (int round = 0; round < 6000; round++) {
        char text[256] = "";
        size_t len = 0;
        for (uint64_t count = 1 + next_random(&seed) % 6; count > 0; count--) {
            const char *piece = pieces[next_random(&seed) % (sizeof pieces / sizeof pieces[0])];
            memcpy(text + len, piece, strlen(piece));
            len += strlen(piece);
        }
        text[len] = '\0';
        struct json_fault fault = {0, ""};
        bool ours = json_valid((pawl_str){text, len}, PAWL_JSON_DEPTH_MAX, &fault);
        bool theirs = postgres_takes(conn, text);
        if (ours != theirs && !(theirs && is_our_limit(fault.reason)))
            fail_msg("%s: we say %d (%s), PostgreSQL %d", text, ours, fault.reason, theirs);
        valid += ours;
    }
    assert_true(valid > 300); /* the comparison saw both sides */
}

static void largest_numbers_are_taken(void **fixture) {
    char text[PAWL_JSON_NUMBER_BYTES_MAX + 1];
    PGconn *conn = *fixture;
    for (int sign = 0; sign < 2; sign++) {
        memset(text, '9', sizeof text);
        memcpy(text + sizeof text - 7, sign ? "e-9999" : "e+9999", 7);
        assert_true(json_valid(str_from(text), PAWL_JSON_DEPTH_MAX, NULL));
        assert_true(postgres_takes(conn, text));
        text[1] = '.';
        assert_true(postgres_takes(conn, text));
    }
}

static void databases_come_and_go(void **fixture) {
    char url[PGSERVER_URL_BYTES];
    (void)fixture;
    assert_true(pgserver_create_database("base", url));
    assert_true(pgserver_execute(url, "create table t (n int)"));
    pgserver_drop_database(url);
    PGconn *conn = PQconnectdb(url);
    assert_int_equal(PQstatus(conn), CONNECTION_BAD);
    PQfinish(conn);
}

int main(void) {
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_hash_is_hashtextextended),
        cmocka_unit_test(json_validator_agrees_with_jsonb),
        cmocka_unit_test(largest_numbers_are_taken),
        cmocka_unit_test(databases_come_and_go),
    };
    return cmocka_run_group_tests(tests, open_connection, close_connection);
}
