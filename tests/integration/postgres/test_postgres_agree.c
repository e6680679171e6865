/* What SQL computes and what C computes are the same: partitions, payload hashes, fingerprints, error texts.
 */
#include <inttypes.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "domain/failure/fingerprint.h"
#include "domain/failure/retry.h"
#include "integration/postgres/postgres_fixture.h"

/* One text parameter in, one text out. */
static const char *with_text(struct fixture *f, const char *sql, const char *text) {
    const char *values[] = {text};
    PGresult *result = PQexecParams(f->conn, sql, 1, NULL, values, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(f->conn));
    snprintf(f->value, sizeof f->value, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    return f->value;
}

/* covers: B3.2 W35 */
static void partitions_agree_for_every_count(void **state) {
    struct fixture *f = *state;
    static const int counts[] = {1, 2, 3, 7, 64, 1000, 9999, 10000, 65536, 100000};
    store_close(store_made(f, "pawl"));
    int negative = 0;
    for (int i = 0; i < 400; i++) {
        char stream[64], expected[16], sql[96];
        snprintf(stream, sizeof stream, "stream-%d-\xc3\xa9", i * 7919);
        negative += (int64_t)hash_stream(str_from(stream)) < 0 ? 1 : 0;
        int count = counts[i % 10];
        snprintf(sql, sizeof sql, "select pawl_internal.partition_of($1::text, %d)", count);
        snprintf(expected, sizeof expected, "%" PRIu32, partition_of(str_from(stream), (uint32_t)count));
        assert_string_equal(with_text(f, sql, stream), expected);
    }
    assert_in_range(negative, 100, 300); /* both halves of the hash were tried */
}

/* covers: B3.2 */
static void stored_partitions_are_those_of_c(void **state) {
    struct fixture *f = *state;
    struct store *store = store_made(f, "pawl");
    value(f, "select pawl.send('t', '{}', 'customer-' || g) from generate_series(1, 200) g; select "
             "pawl.send('t', '{}') "
             "from generate_series(1, 50)");
    PGresult *rows =
        PQexec(f->conn, "select coalesce(stream, id::text), partition, lane from pawl_internal.message");
    assert_int_equal(PQntuples(rows), 250);
    for (int i = 0; i < PQntuples(rows); i++) {
        uint32_t partition = partition_of(str_from(PQgetvalue(rows, i, 0)), 1000);
        assert_int_equal(strtol(PQgetvalue(rows, i, 1), NULL, 10), partition);
        assert_int_equal(strtol(PQgetvalue(rows, i, 2), NULL, 10), lane_of(partition, 8));
    }
    PQclear(rows);
    store_close(store);
}

static void payload_hashes_agree(void **state) {
    struct fixture *f = *state;
    static const char *const payloads[] = {"{}", "{\"a\": 1}", "[1,2,3]", "\"\xe2\x82\xac\"",
                                           "{ \"spaces\" :  true }"};
    store_close(store_made(f, "pawl"));
    for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++) {
        int64_t hash = 0;
        char expected[32];
        assert_int_equal(hash_payload(str_from(payloads[i]), &hash, &f->err), PAWL_OK);
        snprintf(expected, sizeof expected, "%" PRId64, hash);
        assert_string_equal(with_text(f, "select pawl_internal.payload_hash($1::json)", payloads[i]),
                            expected);
    }
}

static void fingerprints_agree(void **state) {
    struct fixture *f = *state;
    static const char *const errors[] = {
        "",
        "timeout after 30 s",
        "  \n order 4711 of 'ACME' failed\nat line 12",
        "no row 01900000-0000-7000-8000-aa0000000001 in \"orders\"",
        "at 0x7fff12ab and deadbeef01 but not deadbeef or 12345678901",
        "don't quote 'this one' or it's odd",
        "x1 a12 12a 1_2 abcdef0123z",
        "caf\xc3\xa9 \xe2\x82\xac 5\t\t tabs\rhere   ",
        "unclosed 'quote and \"another",
        "a 'very' long one: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 "
        "31 32 33 34 35 36 37 38 "
        "39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70",
    };
    store_close(store_made(f, "pawl"));
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        char expected[FINGERPRINT_BYTES];
        assert_string_equal(with_text(f, "select pawl_internal.fingerprint($1::text)", errors[i]),
                            fingerprint(str_from(errors[i]), expected));
    }
}

static void error_texts_are_cut_alike(void **state) {
    struct fixture *f = *state;
    static const char *const pieces[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8e\x89"};
    store_close(store_made(f, "pawl"));
    for (int i = 0; i < 40; i++) {
        char text[512] = "";
        for (int j = 0; j < 60; j++)
            strcat(text, pieces[(i * 7 + j * (i + 1)) % 4]);
        pawl_str cut = utf8_cut(str_from(text), 64);
        char expected[80];
        snprintf(expected, sizeof expected, "%.*s", STR_ARG(cut));
        assert_string_equal(with_text(f, "select pawl_internal.text_cut($1::text, 64)", text), expected);
    }
}

/* covers: B0.14 */
static void the_backoff_is_the_domains(void **state) {
    struct fixture *f = *state;
    const struct retry_policy policy = retry_policy_default();
    store_close(store_made(f, "pawl"));
    for (int attempt = 1; attempt <= 12; attempt++) {
        char sql[160];
        int64_t delay_ms = retry_delay_ms(&policy, attempt);
        snprintf(sql, sizeof sql,
                 "select bool_and(pawl_internal.retry_wait_ms(%d) between %" PRId64 " and %" PRId64
                 ") from generate_series(1, 200)",
                 attempt, (delay_ms + 1) / 2, delay_ms);
        assert_string_equal(value(f, sql), "t");
    }
}

/* covers: W31 */
static void sql_makes_uuids_of_version_7(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    for (int i = 0; i < 20; i++) {
        pawl_uuid id;
        assert_true(uuid_parse(str_from(value(f, "select pawl_internal.uuid7()")), &id));
        int64_t now_ms =
            strtoll(value(f, "select (extract(epoch from clock_timestamp()) * 1000)::bigint"), NULL, 10);
        assert_in_range(now_ms - uuid_time_ms(id), 0, 60000);
    }
}

int main(void) {
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(partitions_agree_for_every_count, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(stored_partitions_are_those_of_c, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(payload_hashes_agree, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(fingerprints_agree, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(error_texts_are_cut_alike, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(the_backoff_is_the_domains, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(sql_makes_uuids_of_version_7, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
