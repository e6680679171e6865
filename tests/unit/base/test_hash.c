/* Hashes: the published vectors, the spread over partitions, SHA-256. */
#include "support/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"

static int hex_value(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

/* The bytes of hex digits; returns how many. "-" stands for no bytes. */
static size_t unhex(const char *hex, char *out) {
    size_t len = 0;
    for (; hex[0] != '\0' && hex[0] != '-'; hex += 2)
        out[len++] = (char)(hex_value(hex[0]) * 16 + hex_value(hex[1]));
    return len;
}

/* covers: B3.2 W35 */
TEST(published_vectors) {
    FILE *file = fopen(PAWL_SOURCE_ROOT "/docs/hash-vectors.txt", "r");
    assert_non_null(file);
    char line[1024];
    int count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        char hex[801];
        char bytes[400];
        uint64_t hash = 0;
        uint32_t partition = 0;
        if (line[0] == '#' || line[0] == '\n')
            continue;
        assert_int_equal(sscanf(line, "%800s %" SCNu64 " %" SCNu32, hex, &hash, &partition), 3);
        pawl_str stream = {bytes, unhex(hex, bytes)};
        if (hash_stream(stream) != hash)
            fail_msg("hash of %s is %" PRIu64 ", not %" PRIu64, hex, hash_stream(stream), hash);
        assert_int_equal(partition_of(stream, 10000), partition);
        count++;
    }
    fclose(file);
    assert_true(count >= 100);
}

/* covers: B3.2 W35 */
TEST(partitions_are_even_and_in_range) {
    enum { STREAMS = 100000, PARTITIONS = 100 };
    static int hits[PARTITIONS];
    for (int i = 0; i < STREAMS; i++) {
        char name[32];
        snprintf(name, sizeof name, "order-%d", i);
        uint32_t partition = partition_of(str_from(name), PARTITIONS);
        assert_in_range(partition, 0, PARTITIONS - 1);
        assert_int_equal(partition, partition_of(str_from(name), PARTITIONS));
        hits[partition]++;
    }
    for (int i = 0; i < PARTITIONS; i++)
        assert_in_range(hits[i], STREAMS / PARTITIONS * 8 / 10, STREAMS / PARTITIONS * 12 / 10);
}

TEST(lanes_group_partitions) {
    assert_int_equal(lane_of(0, 64), 0);
    assert_int_equal(lane_of(9999, 64), 15);
    assert_int_equal(lane_of(77, 1), 0);
    assert_int_equal(partition_of(STR("x"), 1), 0);
}

TEST(absent_hashes_like_empty) { assert_true(hash_stream(str_from(NULL)) == hash_stream(STR(""))); }

TEST(sha256_of_known_texts) {
    char digest[SHA256_TEXT_BYTES];
    pawl_error err;
    assert_int_equal(sha256_hex(STR("abc"), digest, &err), PAWL_OK);
    assert_string_equal(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(sha256_hex(str_from(NULL), digest, &err), PAWL_OK);
    assert_string_equal(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    int64_t hash = 0;
    assert_int_equal(hash_payload(STR("abc"), &hash, &err), PAWL_OK);
    assert_true((uint64_t)hash == UINT64_C(0xba7816bf8f01cfea));
}

TEST(fnv1a_of_known_texts) {
    assert_true(fnv1a64(STR("")) == UINT64_C(0xcbf29ce484222325));
    assert_true(fnv1a64(STR("a")) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(fnv1a64(STR("foobar")) == UINT64_C(0x85944171f73967e8));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_vectors),      cmocka_unit_test(partitions_are_even_and_in_range),
        cmocka_unit_test(lanes_group_partitions), cmocka_unit_test(absent_hashes_like_empty),
        cmocka_unit_test(sha256_of_known_texts),  cmocka_unit_test(fnv1a_of_known_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
