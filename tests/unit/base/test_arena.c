/* Arena: zeroed, aligned, limited, reusable. */
#include "support/check.h"

#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

TEST(memory_is_zeroed_and_aligned) {
    struct arena *arena = arena_create(0);
    for (size_t size = 0; size < 200; size++) {
        unsigned char *memory = arena_alloc(arena, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xff, size);
    }
    arena_free(arena);
}

TEST(reset_gives_zeroed_memory_again) {
    struct arena *arena = arena_create(0);
    memset(arena_alloc(arena, 1000), 0xff, 1000);
    arena_reset(arena);
    assert_int_equal(arena_used(arena), 0);
    unsigned char *memory = arena_alloc(arena, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(memory[i], 0);
    arena_free(arena);
}

TEST(large_pieces_get_chunks_of_their_own) {
    struct arena *arena = arena_create(0);
    char *small = arena_strdup(arena, "kept");
    assert_non_null(arena_alloc(arena, 10 * PAWL_ARENA_CHUNK_BYTES));
    assert_string_equal(small, "kept");
    arena_reset(arena);
    assert_non_null(arena_alloc(arena, 16));
    arena_free(arena);
}

#if defined(__SANITIZE_ADDRESS__)
TEST(sanitizers_see_the_end_of_an_allocation_and_of_a_round) {
    struct arena *arena = arena_create(0);
    char *text = arena_alloc(arena, 5);
    assert_int_equal(__asan_address_is_poisoned(text + 4), 0);
    assert_int_equal(__asan_address_is_poisoned(text + 5), 1);
    arena_reset(arena);
    assert_int_equal(__asan_address_is_poisoned(text), 1);
    arena_free(arena);
}
#endif

TEST(limit_holds) {
    struct arena *arena = arena_create(1024);
    assert_null(arena_alloc(arena, 1025));
    assert_non_null(arena_alloc(arena, 512));
    assert_non_null(arena_alloc(arena, 512));
    assert_null(arena_alloc(arena, 1));
    arena_reset(arena);
    assert_non_null(arena_alloc(arena, 1024));
    arena_free(arena);
}

TEST(impossible_sizes_give_null) {
    struct arena *arena = arena_create(0);
    assert_null(arena_alloc(arena, SIZE_MAX));
    assert_null(arena_alloc(arena, SIZE_MAX - 20));
    assert_null(arena_array(arena, SIZE_MAX / 2, 3));
    assert_null(arena_copy(arena, "x", SIZE_MAX));
    arena_free(arena);
    arena_free(NULL);
}

TEST(copies_and_formats) {
    struct arena *arena = arena_create(0);
    char *copy = arena_copy(arena, "ab\0cd", 5);
    assert_memory_equal(copy, "ab\0cd", 6); /* and a NUL byte behind */
    assert_string_equal(arena_copy(arena, NULL, 0), "");
    assert_string_equal(arena_printf(arena, "%s-%d", "lane", 7), "lane-7");
    assert_string_equal(arena_strdup(arena, ""), "");
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(reset_gives_zeroed_memory_again),
        cmocka_unit_test(large_pieces_get_chunks_of_their_own),
#if defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(sanitizers_see_the_end_of_an_allocation_and_of_a_round),
#endif
        cmocka_unit_test(limit_holds),
        cmocka_unit_test(impossible_sizes_give_null),
        cmocka_unit_test(copies_and_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
