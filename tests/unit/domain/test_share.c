/* Tests of the fair share of lanes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "domain/share.h"

static struct share_member member(uint8_t id, int owned) {
    struct share_member m = {.owned = owned};
    m.id.b[15] = id;
    return m;
}

/* covers: B2.3 B2.4 */
static void test_shares_add_up_to_every_lane(void **state) {
    (void)state;
    srand(7);
    for (int round = 0; round < 2000; round++) {
        struct share_member members[9];
        size_t count = 1 + (size_t)(rand() % 9);
        int lane_count = 1 + rand() % 130;
        for (size_t i = 0; i < count; i++)
            members[i] = member((uint8_t)(i * 37), rand() % 70);
        int sum = 0;
        for (size_t i = 0; i < count; i++) {
            int quota = share_quota(members, count, members[i].id, lane_count, 0);
            assert_in_range(quota, lane_count / (int)count, lane_count / (int)count + 1);
            sum += quota;
        }
        assert_int_equal(sum, lane_count);
    }
}

static void test_odd_lane_stays_with_the_owner_of_more(void **state) {
    (void)state;
    struct share_member members[] = {member(1, 2), member(2, 3)};
    assert_int_equal(share_quota(members, 2, members[0].id, 5, 0), 2);
    assert_int_equal(share_quota(members, 2, members[1].id, 5, 0), 3);
    members[0].owned = 3;
    assert_int_equal(share_quota(members, 2, members[0].id, 5, 0), 3);
    assert_int_equal(share_quota(members, 2, members[1].id, 5, 0), 2);
}

/* The order of ids is that of unsigned bytes. */
static void test_equal_owners_are_ordered_by_id(void **state) {
    (void)state;
    struct share_member members[] = {member(0xf0, 0), member(0x10, 0)};
    assert_int_equal(share_quota(members, 2, members[0].id, 3, 0), 1);
    assert_int_equal(share_quota(members, 2, members[1].id, 3, 0), 2);
}

/* covers: B2.3 */
static void test_the_full_own_nothing_unless_all_are(void **state) {
    (void)state;
    struct share_member members[] = {member(1, 2), member(2, 3), member(3, 0)};
    members[1].full = true;
    assert_int_equal(share_quota(members, 3, members[0].id, 5, 0), 3);
    assert_int_equal(share_quota(members, 3, members[1].id, 5, 0), 0);
    assert_int_equal(share_quota(members, 3, members[2].id, 5, 0), 2);
    members[0].full = members[2].full = true;
    assert_int_equal(share_quota(members, 3, members[0].id, 5, 0), 2);
    assert_int_equal(share_quota(members, 3, members[1].id, 5, 0), 2);
    assert_int_equal(share_quota(members, 3, members[2].id, 5, 0), 1);
}

static void test_stranger_and_cap(void **state) {
    (void)state;
    struct share_member members[] = {member(1, 0)};
    assert_int_equal(share_quota(members, 1, member(9, 0).id, 64, 0), 0);
    assert_int_equal(share_quota(members, 1, member(1, 0).id, 64, 10), 10);
    assert_int_equal(share_quota(NULL, 0, member(1, 0).id, 64, 0), 0);
    assert_int_equal(share_cap_lanes(0, 64, 10000), 0);
    assert_int_equal(share_cap_lanes(1, 64, 10000), 1);
    assert_int_equal(share_cap_lanes(100, 64, 10000), 1);
    assert_int_equal(share_cap_lanes(157, 64, 10000), 2);
    assert_int_equal(share_cap_lanes(10000, 64, 10000), 64);
    assert_int_equal(share_cap_lanes(2000000, 64, 10000), 64);
    assert_int_equal(share_give_max(5), 3);
    assert_int_equal(share_give_max(1), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_add_up_to_every_lane),
        cmocka_unit_test(test_odd_lane_stays_with_the_owner_of_more),
        cmocka_unit_test(test_equal_owners_are_ordered_by_id),
        cmocka_unit_test(test_the_full_own_nothing_unless_all_are),
        cmocka_unit_test(test_stranger_and_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
