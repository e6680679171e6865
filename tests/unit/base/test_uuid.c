/* UUIDv7: version, order, uniqueness over threads, text form. */
#include "support/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"

/* covers: W31 */
TEST(is_version_7_and_carries_the_time) {
    pawl_uuid id;
    pawl_error err;
    int64_t before_ms = clock_wall_ms();
    assert_int_equal(uuid_next(&id, &err), PAWL_OK);
    int64_t after_ms = clock_wall_ms();
    assert_int_equal(id.b[6] >> 4, 7);
    assert_int_equal(id.b[8] >> 6, 2);
    /* Ids of one millisecond count up and may borrow from the next; not here, where one is drawn. */
    assert_in_range((uint64_t)uuid_time_ms(id), (uint64_t)before_ms, (uint64_t)after_ms);
}

static int64_t fixed_now_ms(void *self) { return *(int64_t *)self; }

TEST(increases_when_the_clock_stands_still_or_goes_back) {
    int64_t now_ms = 1767323045678;
    struct uuid_generator generator = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .now_ms = fixed_now_ms, .self = &now_ms, .last_ms = -1};
    pawl_uuid last = uuid_nil();
    for (int i = 0; i < 20000; i++) {
        pawl_uuid id;
        if (i == 10000)
            now_ms -= 3600000;
        if (i == 15000)
            now_ms += 2 * 3600000;
        assert_int_equal(uuid_generator_next(&generator, &id, NULL), PAWL_OK);
        assert_true(uuid_compare(last, id) < 0);
        last = id;
    }
    assert_int_equal(uuid_time_ms(last), now_ms);
}

TEST(a_full_millisecond_borrows_the_next) {
    int64_t now_ms = 1000;
    struct uuid_generator generator = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .now_ms = fixed_now_ms, .self = &now_ms, .last_ms = -1};
    pawl_uuid first;
    pawl_uuid second;
    assert_int_equal(uuid_generator_next(&generator, &first, NULL), PAWL_OK);
    generator.rand_a = 0xfff;
    generator.rand_b = UINT64_C(0x3fffffffffffffff);
    assert_int_equal(uuid_generator_next(&generator, &second, NULL), PAWL_OK);
    assert_true(uuid_compare(first, second) < 0);
    assert_int_equal(uuid_time_ms(second), 1001);
}

enum { THREADS = 4, PER_THREAD = 5000 };

static void *draw(void *out) {
    pawl_uuid *ids = out;
    for (int i = 0; i < PER_THREAD; i++)
        if (uuid_next(&ids[i], NULL) != PAWL_OK)
            return NULL;
    return out;
}

static int by_bytes(const void *a, const void *b) { return memcmp(a, b, sizeof(pawl_uuid)); }

/* covers: J18 */
TEST(threads_never_draw_the_same) {
    static pawl_uuid ids[THREADS * PER_THREAD];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, draw, ids + (ptrdiff_t)i * PER_THREAD), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        assert_non_null(result);
        for (int j = 1; j < PER_THREAD; j++)
            assert_true(uuid_compare(ids[i * PER_THREAD + j - 1], ids[i * PER_THREAD + j]) < 0);
    }
    qsort(ids, THREADS * PER_THREAD, sizeof ids[0], by_bytes);
    for (int i = 1; i < THREADS * PER_THREAD; i++)
        assert_false(uuid_equal(ids[i - 1], ids[i]));
}

TEST(text_form) {
    char text[UUID_TEXT_BYTES];
    pawl_uuid id;
    assert_true(uuid_parse(STR("018F3a5b-7c2d-7e4f-8a9b-0c1d2e3f4a5b"), &id));
    assert_string_equal(uuid_format(id, text), "018f3a5b-7c2d-7e4f-8a9b-0c1d2e3f4a5b");
    assert_string_equal(uuid_format(uuid_nil(), text), "00000000-0000-0000-0000-000000000000");
    assert_true(uuid_is_nil(uuid_nil()));
    assert_false(uuid_is_nil(id));
    assert_int_equal(uuid_time_ms(uuid_nil()), -1);
}

TEST(refuses_wrong_text) {
    static const char *const bad[] = {"",
                                      "018f3a5b7c2d7e4f8a9b0c1d2e3f4a5b",
                                      "018f3a5b-7c2d-7e4f-8a9b-0c1d2e3f4a5",
                                      "018f3a5b-7c2d-7e4f-8a9b-0c1d2e3f4a5bb",
                                      "018f3a5b-7c2d-7e4f-8a9b-0c1d2e3f4a5g",
                                      "018f3a5b-7c2d-7e4f-8a9b_0c1d2e3f4a5b",
                                      "{18f3a5b-7c2d-7e4f-8a9b-0c1d2e3f4a5}"};
    pawl_uuid id = {{42}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(uuid_parse(str_from(bad[i]), &id));
    assert_int_equal(id.b[0], 42);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_version_7_and_carries_the_time),
        cmocka_unit_test(increases_when_the_clock_stands_still_or_goes_back),
        cmocka_unit_test(a_full_millisecond_borrows_the_next),
        cmocka_unit_test(threads_never_draw_the_same),
        cmocka_unit_test(text_form),
        cmocka_unit_test(refuses_wrong_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
