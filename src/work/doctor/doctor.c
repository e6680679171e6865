/* Runs the doctor: reads the facts once, then applies every check of the table. */
#include "work/doctor/doctor.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "work/doctor/look.h"

enum { DOCTOR_ROWS_MAX = 200 };

bool doctor_alive(const struct doctor_facts *facts, const struct instance_row *row) {
    return row->state == INSTANCE_ACTIVE && row->lease_until_ms > facts->counts.now_ms;
}

/* Half of the round trip is subtracted: a slow network is not a wrong clock. */
static pawl_status clock_compare(struct store *store, struct doctor_facts *facts, pawl_error *err) {
    int64_t store_ms = 0;
    int64_t before_ms = clock_wall_ms();
    pawl_status status = store->ops->core.clock_read(store, &store_ms, err);
    facts->clock_ahead_ms = before_ms + (clock_wall_ms() - before_ms) / 2 - store_ms;
    return status;
}

static pawl_status read_messages(struct store *store, struct arena *arena, struct doctor_facts *facts,
                                 pawl_error *err) {
    const struct store_ops *ops = store->ops;
    pawl_status status = clock_compare(store, facts, err);
    if (status == PAWL_OK)
        status = ops->core.settings_read(store, &facts->settings, err);
    if (status == PAWL_OK)
        status = ops->view.counts(store, &facts->counts, err);
    if (status == PAWL_OK)
        status = ops->view.instances(store, arena, &facts->instances, err);
    if (status == PAWL_OK)
        status = ops->relay->pauses(store, arena, &facts->pauses, err);
    if (status == PAWL_OK)
        status = ops->relay->refused(store, 0, DOCTOR_ROWS_MAX, arena, &facts->refused, err);
    return status;
}

static pawl_status read_work(struct store *store, struct arena *arena, struct doctor_facts *facts,
                             pawl_error *err) {
    const struct store_ops *ops = store->ops;
    const struct schedule_filter due = {.due = true, .limit = DOCTOR_ROWS_MAX};
    const struct schedule_filter all = {.limit = DOCTOR_ROWS_MAX};
    const struct run_filter latest = {.limit = DOCTOR_ROWS_MAX};
    const struct runs_filter open = {.open = true, .limit = DOCTOR_ROWS_MAX};
    pawl_status status = ops->jobs->counts(store, arena, &facts->jobs, err);
    if (status == PAWL_OK)
        status = ops->jobs->schedules(store, &due, arena, &facts->due, err);
    if (status == PAWL_OK)
        status = ops->jobs->schedules(store, &all, arena, &facts->schedules, err);
    if (status == PAWL_OK)
        status = ops->jobs->runs(store, &latest, arena, &facts->executions, err);
    if (status == PAWL_OK)
        status = ops->events.perspective_list(store, (pawl_str){NULL, 0}, arena, &facts->perspectives, err);
    if (status == PAWL_OK)
        status = ops->runs->runs(store, &open, arena, &facts->runs, err);
    return status;
}

/* Everything the store reported under the check's name, joined. */
static void problem(const struct violations *problems, const char *name, struct buf *found) {
    for (size_t i = 0; i < problems->count; i++) {
        if (!str_equal(problems->rows[i].invariant, str_from(name)))
            continue;
        if (found->len > 0)
            buf_append_cstr(found, "; ");
        buf_append_str(found, problems->rows[i].detail);
    }
}

/* What one check found, in the arena; absent when it found nothing. */
static pawl_status look(const struct doctor_check *check, const struct doctor_facts *facts,
                        const struct violations *problems, struct arena *arena, pawl_str *found,
                        pawl_error *err) {
    struct buf text;
    buf_init(&text, 0);
    if (check->look != NULL)
        check->look(facts, &text);
    else
        problem(problems, check->name, &text);
    pawl_status status = buf_status(&text, "doctor", err);
    *found = (pawl_str){NULL, 0};
    if (status == PAWL_OK && text.len > 0) {
        *found = (pawl_str){arena_copy(arena, text.ptr, text.len), text.len};
        if (found->ptr == NULL)
            status = error_no_memory(err, "doctor");
    }
    buf_free(&text);
    return status;
}

static bool applies(const struct doctor_check *check, const struct store *store) {
    return strcmp(check->stores, "all") == 0 || strcmp(check->stores, store->dialect) == 0;
}

static pawl_status examine(const struct doctor_facts *facts, const struct violations *problems,
                           struct arena *arena, struct doctor_report *report, pawl_error *err) {
    for (int severity = DOCTOR_FAULT; severity >= DOCTOR_WARNING; severity--) {
        for (size_t i = 0; i < doctor_checks_count; i++) {
            const struct doctor_check *check = &doctor_checks[i];
            pawl_str found;
            if ((int)check->severity != severity || !applies(check, facts->store))
                continue;
            pawl_status status = look(check, facts, problems, arena, &found, err);
            if (status != PAWL_OK)
                return status;
            report->checks++;
            if (found.ptr == NULL)
                continue;
            report->findings[report->count++] = (struct doctor_finding){check, found};
            report->faults += severity == DOCTOR_FAULT;
            report->warnings += severity == DOCTOR_WARNING;
        }
    }
    return PAWL_OK;
}

pawl_status doctor_run(struct store *store, const struct doctor_input *input, struct arena *arena,
                       struct doctor_report *out, pawl_error *err) {
    struct doctor_facts facts = {.store = store, .input = input};
    struct violations problems;
    struct doctor_report report = {
        .findings = arena_array(arena, doctor_checks_count, sizeof *report.findings)};
    if (report.findings == NULL)
        return error_no_memory(err, "doctor");
    pawl_status status = store->ops->view.problems(store, arena, &problems, err);
    if (status == PAWL_OK)
        status = read_messages(store, arena, &facts, err);
    if (status == PAWL_OK)
        status = read_work(store, arena, &facts, err);
    if (status == PAWL_OK)
        status = examine(&facts, &problems, arena, &report, err);
    if (status == PAWL_OK)
        *out = report;
    return status;
}
