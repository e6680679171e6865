/* The rules of runs: the guard of a page, whether there is more, endless loops, the fan-in, names of jobs. */
#include "support/check.h"

#include <string.h>

#include "base/limits.h"
#include "base/str.h"
#include "store/run_words.h"

/* covers: C39 */
static void the_guard_lets_one_page_through(void **state) {
    (void)state;
    struct run_row run = {.state = RUN_IS_RUNNING};
    struct partition_row part = {.state = PART_ACTIVE, .generation = 1, .page = 3};
    struct page_ref page = {.generation = 1, .page = 3};
    assert_int_equal(run_guard(&page, &run, &part), PAGE_NOT_SKIPPED);
    page.page = 2;
    assert_int_equal(run_guard(&page, &run, &part), PAGE_BEHIND);
    page.page = 4;
    assert_int_equal(run_guard(&page, &run, &part), PAGE_AHEAD);
    page = (struct page_ref){.generation = 0, .page = 3};
    assert_int_equal(run_guard(&page, &run, &part), PAGE_OLD_GENERATION);
    page.generation = 1;
    part.state = PART_DONE;
    assert_int_equal(run_guard(&page, &run, &part), PAGE_PARTITION_DONE);
    part.state = PART_CANCELLED;
    assert_int_equal(run_guard(&page, &run, &part), PAGE_RUN_OVER);
    part.state = PART_FAILED; /* a redriven page opens it again, while the run can be repaired */
    run.state = RUN_IS_FAILED;
    assert_int_equal(run_guard(&page, &run, &part), PAGE_NOT_SKIPPED);
    run.state = RUN_IS_CONSOLIDATING;
    assert_int_equal(run_guard(&page, &run, &part), PAGE_RUN_OVER);
    assert_int_equal(run_guard(&page, NULL, &part), PAGE_UNKNOWN);
    assert_int_equal(run_guard(&page, &run, NULL), PAGE_UNKNOWN);
}

static void there_is_more_when_somebody_says_so(void **state) {
    (void)state;
    struct runrule_page page = {.items = 30, .page_size = 30, .by_short_page = true};
    assert_true(runrule_more(&page));
    page.items = 29;
    assert_false(runrule_more(&page));
    page.said = 1; /* the handler knows better */
    assert_true(runrule_more(&page));
    page = (struct runrule_page){.items = 30, .page_size = 30};
    assert_false(runrule_more(&page));
    page.next = STR("\"x\"");
    assert_true(runrule_more(&page));
    page.said = 2;
    assert_false(runrule_more(&page));
}

static void a_page_that_leads_nowhere_is_found(void **state) {
    (void)state;
    char text[RUNRULE_TEXT_BYTES];
    struct runrule_page page = {.page = 7, .cursor = STR("1"), .next = STR("1"), .items = 3};
    assert_int_equal(runrule_loops(&page), LOOP_CURSOR);
    assert_non_null(strstr(runrule_loop_text(&page, text), "page 7 returned the cursor"));
    page.said = 2;
    assert_int_equal(runrule_loops(&page), LOOP_NONE);
    page = (struct runrule_page){.offset = 60, .said = 1};
    assert_int_equal(runrule_loops(&page), LOOP_EMPTY);
    assert_non_null(strstr(runrule_loop_text(&page, text), "offset 60"));
    page = (struct runrule_page){.page = PAWL_PAGES_MAX - 1, .next = STR("2"), .items = 1};
    assert_int_equal(runrule_loops(&page), LOOP_PAGES);
    page.page--;
    assert_int_equal(runrule_loops(&page), LOOP_NONE);
    page.items = 0; /* a filtered page may be empty and go on */
    assert_int_equal(runrule_loops(&page), LOOP_NONE);
    assert_string_equal(runrule_loop_text(&page, text), "");
}

static void the_last_partition_decides(void **state) {
    (void)state;
    assert_int_equal(runrule_fan_in(1, 0, false, false), NEXT_NOTHING);
    assert_int_equal(runrule_fan_in(0, 0, false, false), NEXT_CONSOLIDATE);
    assert_int_equal(runrule_fan_in(0, 1, false, false), NEXT_FAIL);
    assert_int_equal(runrule_fan_in(0, 1, true, false), NEXT_CONSOLIDATE);
    assert_int_equal(runrule_fan_in(0, 1, false, true), NEXT_REPAIR);
}

static void a_job_says_whose_it_is(void **state) {
    (void)state;
    struct run_job_name name;
    assert_true(run_job_name(STR("run:12:3:7"), &name));
    assert_int_equal(name.run, 12);
    assert_int_equal(name.part, 3);
    assert_true(run_job_name(STR("run:12:3:7:2"), &name));
    assert_true(run_job_name(STR("run:12:consolidate:1"), &name));
    assert_int_equal(name.part, -1);
    assert_false(run_job_name(STR("run:x:3:7"), &name));
    assert_false(run_job_name(STR("other:12:3:7"), &name));
    assert_false(run_job_name(STR("run:12"), &name));
    assert_false(run_job_name((pawl_str){NULL, 0}, &name));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_guard_lets_one_page_through),
        cmocka_unit_test(there_is_more_when_somebody_says_so),
        cmocka_unit_test(a_page_that_leads_nowhere_is_found),
        cmocka_unit_test(the_last_partition_decides),
        cmocka_unit_test(a_job_says_whose_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
