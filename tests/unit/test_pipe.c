/* Kept programs without a worker: many threads at once, processes that die or cannot begin, and what stops a
 * call before or after its item was sent. */
#include "support/check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "process/pipe.h"

enum { THREADS = 6, ITEMS = 60, SOON_MS = 20000 };

/* Answers each line with what its item is called. */
#define ANSWER                                                                                               \
    "while read -r line; do id=${line#*:}; id=${id%%,*}; case $line in *cancel*) ;; "                        \
    "*die*) kill -9 $$;; *hang*) sleep 600;; *) echo \"{\\\"id\\\":$id,\\\"result\\\":\\\"done\\\"}\";; "    \
    "esac; done"
#define READY "echo '{\"ready\":true}'; "

struct world {
    struct pipes *pipes;
    struct pipe *pipe;
};

static void begin(struct world *world, const char *script, int processes_max, int recycle_after) {
    char shell[] = "/bin/sh", option[] = "-c", text[512];
    char *argv[] = {shell, option, text, NULL};
    pawl_error err = {0};
    snprintf(text, sizeof(text), "%s", script);
    struct pipe_config config = {
        .name = "test", .argv = argv, .processes_max = processes_max, .recycle_after = recycle_after};
    assert_int_equal(pipes_create("test", NULL, &world->pipes, &err), PAWL_OK);
    assert_int_equal(pipe_add(world->pipes, &config, &world->pipe, &err), PAWL_OK);
    assert_ptr_equal(pipe_find(world->pipes, "test"), world->pipe);
    assert_null(pipe_find(world->pipes, "other"));
}

static struct pipe_answer call(struct world *world, const char *what, struct stop_limit limits) {
    struct pipe_answer answer;
    char members[64];
    snprintf(members, sizeof(members), "\"message\":\"%s\"", what);
    pipe_run(world->pipe, &(struct pipe_call){.members = str_from(members), .limits = limits}, &answer);
    buf_free(&answer.output);
    return answer;
}

struct caller {
    struct world *world;
    pthread_t thread;
    int done, lost;
};

static void *call_many(void *self) {
    struct caller *caller = self;
    for (int i = 0; i < ITEMS; i++) {
        bool dies = i % 20 == 7;
        struct pipe_answer answer;
        do { /* it goes back and is tried again, as a message is */
            answer = call(caller->world, dies ? "die" : "work", (struct stop_limit){0, NULL});
        } while (answer.end.outcome == PROCESS_NOT_STARTED);
        caller->done += !dies && answer.result == PIPE_DONE;
        caller->lost += dies && answer.result == PIPE_NONE && answer.end.outcome == PROCESS_SIGNALLED &&
                        answer.end.status == 9;
    }
    return NULL;
}

TEST(test_only_the_item_of_a_process_that_dies_is_lost) {
    struct world world;
    struct caller callers[THREADS] = {0};
    begin(&world, READY ANSWER, THREADS / 2, 10);
    for (int i = 0; i < THREADS; i++) {
        callers[i].world = &world;
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call_many, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_int_equal(callers[i].done, ITEMS - 3);
        assert_int_equal(callers[i].lost, 3);
    }
    pipes_free(world.pipes);
}

TEST(test_a_program_that_is_not_ready_has_not_started) {
    static const char *const scripts[] = {"echo it hurts >&2; exit 65", "echo hello; sleep 600",
                                          "echo '{\"ready\":1}'; sleep 600",
                                          "echo '{\"ready\":true,\"at_once\":0}'; sleep 600"};
    for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
        struct world world;
        struct start_failure row;
        begin(&world, scripts[i], 2, 0);
        for (int try = 0; try < 2; try++) { /* the second is not even tried */
            struct pipe_answer answer = call(&world, "work", (struct stop_limit){0, NULL});
            assert_int_equal(answer.end.outcome, PROCESS_NOT_STARTED);
            assert_true(answer.end.wait_ms > 0 && answer.end.wait_ms <= START_FAILURE_WAIT_MS_MIN);
            assert_non_null(strstr(answer.error, i == 0 ? "exit code 65: it hurts" : "it wrote "));
        }
        assert_true(start_failures_changed(launcher_failures(pipes_launcher(world.pipes)), &row));
        assert_true(row.open);
        assert_string_equal(row.program, pipe_command(world.pipe));
        pipes_free(world.pipes);
    }
}

TEST(test_processes_that_keep_ending_are_replaced_later_and_later) {
    struct world world;
    begin(&world, READY ANSWER, 1, 0);
    for (int i = 0; i < 2; i++) /* the first time, at once */
        assert_int_equal(call(&world, "die", (struct stop_limit){0, NULL}).end.outcome, PROCESS_SIGNALLED);
    struct pipe_answer answer = call(&world, "work", (struct stop_limit){0, NULL});
    assert_int_equal(answer.end.outcome, PROCESS_NOT_STARTED);
    assert_true(answer.end.wait_ms > 0 && answer.end.wait_ms <= PIPE_RESTART_MS);
    assert_non_null(strstr(answer.error, "ended by signal 9"));
    while (answer.end.outcome == PROCESS_NOT_STARTED)
        answer = call(&world, "work", (struct stop_limit){0, NULL});
    assert_int_equal(answer.result, PIPE_DONE);
    for (int i = 0; i < 2; i++) /* and again, since an item was completed */
        assert_int_equal(call(&world, "die", (struct stop_limit){0, NULL}).end.outcome, PROCESS_SIGNALLED);
    pipes_free(world.pipes);
}

TEST(test_what_has_lost_its_lease_is_not_sent) {
    struct world world;
    struct pipe_answer answer;
    begin(&world, READY ANSWER, 1, 0);
    struct pipe_call lost = {.members = STR("\"message\":\"die\""), .fence_ms = clock_boot_ms()};
    assert_int_equal(call(&world, "work", (struct stop_limit){0, NULL}).result, PIPE_DONE); /* one is ready */
    pipe_run(world.pipe, &lost, &answer);
    assert_int_equal(answer.end.outcome, PROCESS_NOT_STARTED);
    stop_flag stop = STOP_FENCED;
    lost = (struct pipe_call){.members = lost.members, .limits = {0, &stop}};
    pipe_run(world.pipe, &lost, &answer);
    assert_int_equal(answer.end.outcome, PROCESS_FENCED);
    assert_int_equal(call(&world, "work", (struct stop_limit){0, NULL}).result, PIPE_DONE);
    pipes_free(world.pipes);
}

TEST(test_what_waits_for_a_process_can_be_stopped) {
    struct world world;
    stop_flag stop = STOP_LEAVING;
    begin(&world, "exec cat >/dev/null", 1, 0);
    struct pipe_answer answer = call(&world, "work", (struct stop_limit){0, &stop});
    assert_int_equal(answer.end.outcome, PROCESS_STOPPED);
    answer = call(&world, "work", (struct stop_limit){clock_boot_ms() + 100, NULL});
    assert_int_equal(answer.end.outcome, PROCESS_NOT_STARTED);
    pipes_free(world.pipes);
}

struct later {
    stop_flag *stop;
    enum stop_reason why;
};

static void *stop_later(void *self) {
    const struct later *later = self;
    nanosleep(&(struct timespec){0, 200000000}, NULL); /* any time is right */
    stop_set(later->stop, later->why);
    return NULL;
}

TEST(test_what_does_not_answer_is_ended) {
    static const struct {
        enum stop_reason why;
        enum process_outcome outcome;
    } cases[] = {{STOP_TIMEOUT, PROCESS_TIMED_OUT}, {STOP_FENCED, PROCESS_FENCED}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct world world;
        stop_flag stop = STOP_NONE;
        struct later later = {&stop, cases[i].why};
        pthread_t thread;
        int64_t began_ms = clock_boot_ms();
        begin(&world, READY ANSWER, 1, 0);
        assert_int_equal(pthread_create(&thread, NULL, stop_later, &later), 0);
        struct pipe_answer answer = call(&world, "hang", (struct stop_limit){0, &stop});
        assert_int_equal(answer.result, PIPE_NONE);
        assert_int_equal(answer.end.outcome, cases[i].outcome);
        assert_true(clock_boot_ms() - began_ms < SOON_MS);
        pthread_join(thread, NULL);
        answer = call(&world, "work", (struct stop_limit){0, NULL});
        assert_int_equal(answer.result, PIPE_DONE); /* by another process */
        pipes_free(world.pipes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_the_item_of_a_process_that_dies_is_lost),
        cmocka_unit_test(test_a_program_that_is_not_ready_has_not_started),
        cmocka_unit_test(test_processes_that_keep_ending_are_replaced_later_and_later),
        cmocka_unit_test(test_what_has_lost_its_lease_is_not_sent),
        cmocka_unit_test(test_what_waits_for_a_process_can_be_stopped),
        cmocka_unit_test(test_what_does_not_answer_is_ended),
    };
    return cmocka_run_group_tests_name("pipe", tests, NULL, NULL);
}
