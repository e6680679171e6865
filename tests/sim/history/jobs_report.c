/* The history checker: reports of jobs, what people do to them, and their end. */
#include <inttypes.h>

#include "sim/history/jobs.h"
#include "sim/world/alloc.h"

static struct history_job_run *run_find(struct history_jobs *j, int64_t id, int64_t token) {
    for (int i = history_job(j, id)->runs; i >= 0; i = j->runs[i].next) {
        if (j->runs[i].token == token)
            return &j->runs[i];
    }
    return NULL;
}

static struct history_job_run *run_of(struct history_jobs *j, int64_t id, int64_t token) {
    struct history_job_run *run = run_find(j, id, token);
    if (run != NULL)
        return run;
    j->runs = sim_grow(j->runs, &j->run_capacity, j->run_count + 1, sizeof(*j->runs));
    j->runs[j->run_count] = (struct history_job_run){.id = id, .token = token, .next = j->jobs[id].runs};
    j->jobs[id].runs = (int)j->run_count;
    return &j->runs[j->run_count++];
}

static void end(struct history_jobs *j, struct history_job *job, int64_t id, enum history_job_at how) {
    bool was_open = job->at == AT_OPEN || job->at == AT_GRANTED || job->at == AT_WAITING;
    j->open -= was_open;
    job->at = how;
    if (job->unique >= 0 && j->unique[job->unique] == id)
        j->unique[job->unique] = 0;
}

static void ends_applied(struct history_jobs *j, struct history_job *job, const struct finish_item *item,
                         enum job_result result, int64_t now_ms) {
    int64_t id = item->ref.id;
    bool dies = item->error_class == CLASS_PERMANENT || job->attempts >= job->max_attempts ||
                (job->deadline_ms > 0 && now_ms + item->delay_ms >= job->deadline_ms);
    enum job_result wanted = item->outcome == JOB_COMPLETE ? JOB_RESULT_NONE
                             : job->cancel                 ? JOB_RESULT_CANCELLED
                             : item->outcome != JOB_FAIL   ? JOB_RESULT_NONE
                             : dies                        ? JOB_RESULT_DEAD
                                                           : JOB_RESULT_RETRY;
    /* A run that is cancelled has its pages cancelled. */
    bool of_run = job->of_run && result == JOB_RESULT_CANCELLED;
    if (result != wanted && !of_run && !(job->unsure && item->outcome == JOB_FAIL))
        history_violated(j->h, job->cancel ? "job_cancel" : "job_death",
                         "job %" PRId64 " ended as %d instead of %d: attempt %d of %d", id, (int)result,
                         (int)wanted, job->attempts, job->max_attempts);
    job->begun = false;
    if (item->outcome == JOB_COMPLETE) {
        end(j, job, id, AT_DONE);
        j->accepted++;
        return;
    }
    if (result == JOB_RESULT_CANCELLED || result == JOB_RESULT_DEAD) {
        end(j, job, id, result == JOB_RESULT_DEAD ? AT_DEAD : AT_CANCELLED);
        return;
    }
    job->attempts -= item->outcome != JOB_FAIL;
    /* A wait may end at any time, and a deadline moves nothing. */
    job->due_ms = item->outcome == JOB_WAIT || item->delay_ms < 0 ? -1 : now_ms + item->delay_ms;
    job->at = item->outcome == JOB_WAIT ? AT_WAITING : AT_OPEN;
}

void history_job_reported(struct history_jobs *j, int instance, const struct finish_item *item,
                          enum store_answer answer, enum job_result result, int64_t now_ms) {
    struct history_job *job = history_job(j, item->ref.id);
    struct history_job_run *run = run_of(j, item->ref.id, item->ref.token);
    bool held = job->at == AT_GRANTED && job->token == item->ref.token && job->instance == instance;
    if (answer == ANSWER_DUPLICATE && !run->reported)
        history_violated(j->h, "job_false_duplicate", "job %" PRId64 " was not reported under %" PRId64,
                         item->ref.id, item->ref.token);
    if (answer == ANSWER_STALE && held && !history_job_over(j, job, now_ms))
        history_violated(j->h, "job_refused", "job %" PRId64 ": token %" PRId64 " is in force and refused",
                         item->ref.id, item->ref.token);
    if (answer != ANSWER_APPLIED)
        return;
    if (job->at == AT_DONE)
        history_violated(j->h, "job_completed_twice", "job %" PRId64, item->ref.id);
    if (!held) {
        history_violated(j->h, "job_stale_accepted",
                         "a report of job %" PRId64 " under %" PRId64 " was applied; in force is %" PRId64,
                         item->ref.id, item->ref.token, job->at == AT_GRANTED ? job->token : 0);
        return;
    }
    if (item->outcome == JOB_COMPLETE && !run->effect)
        history_violated(j->h, "job_no_effect", "job %" PRId64 " was completed without an effect",
                         item->ref.id);
    run->reported = true;
    ends_applied(j, job, item, result, now_ms);
}

void history_job_renewed(struct history_jobs *j, int instance, struct job_ref ref, enum store_answer answer,
                         int64_t lease_ms, int64_t now_ms) {
    struct history_job *job = history_job(j, ref.id);
    bool held = job->at == AT_GRANTED && job->token == ref.token && job->instance == instance;
    if (answer == ANSWER_APPLIED && !held)
        history_violated(j->h, "job_stale_accepted", "job %" PRId64 " was renewed under %" PRId64, ref.id,
                         ref.token);
    if (answer == ANSWER_STALE && held && !history_job_over(j, job, now_ms))
        history_violated(j->h, "job_refused", "job %" PRId64 ": token %" PRId64 " is in force and refused",
                         ref.id, ref.token);
    if (answer != ANSWER_APPLIED)
        return;
    job->lease_until_ms = now_ms + lease_ms;
    job->heard_ms = now_ms;
    job->begun = true;
}

static bool is_known(const struct grants_settle *known, int64_t token, int64_t id) {
    for (size_t i = 0; i < known->count; i++) {
        if (known->held[i].token == token && known->held[i].number == id)
            return true;
    }
    return false;
}

static void give_back(struct history_jobs *j, struct history_job *job, int64_t id, int64_t now_ms) {
    run_of(j, id, job->token)->reported = true;
    if (job->cancel) {
        end(j, job, id, AT_CANCELLED);
        return;
    }
    job->at = AT_OPEN;
    job->due_ms = now_ms;
    job->attempts--;
    job->begun = false;
}

/* A grant that is over may have been taken back before: then it is as if it had been lost. */
void history_jobs_settled(struct history_jobs *j, int instance, const struct grants_settle *known,
                          int64_t now_ms) {
    for (size_t i = 1; i < j->count; i++) {
        struct history_job *job = &j->jobs[i];
        if (job->at != AT_GRANTED || job->instance != instance || job->token > known->settled ||
            is_known(known, job->token, (int64_t)i))
            continue;
        if (!history_job_over(j, job, now_ms)) {
            give_back(j, job, (int64_t)i, now_ms);
            continue;
        }
        run_of(j, (int64_t)i, job->token)->reported = true;
        job->unsure = true;
        job->due_ms = -1;
    }
}

/* What was taken from it before, because its lease had ended or it was evicted, is not given back. */
void history_jobs_left(struct history_jobs *j, int instance, int64_t now_ms) {
    for (size_t i = 1; i < j->count; i++) {
        struct history_job *job = &j->jobs[i];
        if (job->at != AT_GRANTED || job->instance != instance || j->h->instances[instance].evicted)
            continue;
        if (!history_job_over(j, job, now_ms)) {
            give_back(j, job, (int64_t)i, now_ms);
            continue;
        }
        run_of(j, (int64_t)i, job->token)->reported = true;
        job->unsure = true;
        job->due_ms = -1;
    }
}

void history_job_cancelled(struct history_jobs *j, int64_t id, enum store_answer answer, int64_t now_ms) {
    struct history_job *job = history_job(j, id);
    bool over = history_job_over(j, job, now_ms);
    bool gone = job->at == AT_DONE || job->at == AT_CANCELLED || job->at == AT_DISCARDED ||
                job->at == AT_DEAD;
    if (answer == ANSWER_APPLIED && gone)
        history_violated(j->h, "job_ended", "job %" PRId64 " was cancelled and had ended", id);
    if (answer == ANSWER_NOT_FOUND && !gone && (job->at != AT_GRANTED || !over) && job->deadline_ms == 0)
        history_violated(j->h, "job_lost", "job %" PRId64 " is open and was not found", id);
    if (answer != ANSWER_APPLIED)
        return;
    job->cancel = true;
    if (job->at != AT_GRANTED)
        end(j, job, id, AT_CANCELLED);
}

void history_job_redriven(struct history_jobs *j, int64_t id, bool discarded, enum store_answer answer,
                          int64_t now_ms) {
    struct history_job *job = history_job(j, id);
    if (answer != ANSWER_APPLIED)
        return;
    if (job->at != AT_DEAD)
        history_violated(j->h, "job_redrive", "job %" PRId64 " was redriven and is not dead", id);
    if (discarded) {
        job->at = AT_DISCARDED;
        return;
    }
    job->at = AT_OPEN;
    j->open++;
    job->attempts = job->kills = 0;
    job->cancel = job->begun = job->unsure = false;
    job->deadline_ms = 0;
    job->due_ms = now_ms;
    if (job->unique >= 0)
        j->unique[job->unique] = id;
}

void history_job_woken(struct history_jobs *j, int64_t id) {
    struct history_job *job = history_job(j, id);
    if (job->at != AT_WAITING)
        return;
    job->at = AT_OPEN;
    job->due_ms = -1; /* a signal that was kept may have come before this one */
}

void history_job_settled(struct history_jobs *j, int64_t id, int64_t token, enum history_job_at how) {
    struct history_job *job = history_job(j, id);
    if (token > 0 && (job->at != AT_GRANTED || job->token != token))
        history_violated(j->h, "job_stale_accepted", "job %" PRId64 " was ended under %" PRId64, id, token);
    if (token > 0)
        run_of(j, id, token)->reported = true;
    if (job->at != AT_UNKNOWN)
        end(j, job, id, how);
}

/* Nothing begins when its lease is over or nearly so, seen from the store's clock. */
int history_job_began(struct history_jobs *j, int64_t id, int64_t token, int64_t now_ms) {
    /* A store that went back may not know the job at all. */
    const struct history_job *job = history_job(j, id);
    struct history_job_run *run = run_of(j, id, token);
    int64_t lease_ms = j->h->rules.lease_ms, margin_ms = lease_ms / 20 > 10 ? lease_ms / 20 : 10;
    const struct history_instance *i = &j->h->instances[job->instance];
    if (run->ran)
        history_violated(j->h, "job_ran_twice", "job %" PRId64 " runs again under %" PRId64, id, token);
    bool mine = job->at == AT_GRANTED && job->token == token;
    if (mine && now_ms >= job->lease_until_ms - margin_ms)
        history_violated(j->h, "job_fence", "job %" PRId64 " begins %" PRId64 " ms before its lease ends", id,
                         job->lease_until_ms - now_ms);
    /* It must be renewed before it begins when its attempt is the last. */
    if (mine && !job->begun && job->attempts >= job->max_attempts && !i->evicted)
        history_violated(j->h, "job_unannounced", "job %" PRId64 " begins its last attempt unannounced", id);
    run->ran = run->running = true;
    return (int)(run - j->runs);
}

void history_job_effect(struct history_jobs *j, int run) { j->runs[run].effect = true; }

void history_job_ended(struct history_jobs *j, int run) { j->runs[run].running = false; }

/* At most twice in company that was lost with it, then alone, and then its attempts are counted. */
void history_job_killed(struct history_jobs *j, int64_t id) {
    struct history_job *job = history_job(j, id);
    if (++job->kills > job->max_attempts + 2)
        history_violated(j->h, "job_poison", "job %" PRId64 " has killed %d workers, it has %d attempts", id,
                         job->kills, job->max_attempts);
}

/* A job that the store shows as dead. */
static void dead_seen(struct history_jobs *j, const struct job_row *row, int64_t now_ms) {
    int64_t id = row->job.id;
    struct history_job *job = history_job(j, id);
    if (job->at == AT_DEAD)
        return;
    bool killed = job->at == AT_GRANTED && history_job_over(j, job, now_ms) && (job->begun || job->unsure) &&
                  job->attempts >= job->max_attempts;
    bool late = job->deadline_ms > 0 && job->deadline_ms <= now_ms;
    bool right = row->reason == JOB_DEAD_KILLED ? killed : row->reason == JOB_DEAD_DEADLINE ? late : false;
    if (!right && !job->of_run)
        history_violated(j->h, "job_death", "job %" PRId64 " is dead (reason %d) at attempt %d of %d, %s", id,
                         row->reason, job->attempts, job->max_attempts, job->begun ? "begun" : "not begun");
    end(j, job, id, AT_DEAD);
}

void history_jobs_seen(struct history_jobs *j, const struct job_rows *rows, int64_t now_ms, bool last) {
    size_t dead = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->rows[i].state == JOB_DEAD)
            dead_seen(j, &rows->rows[i], now_ms);
        else if (last)
            history_violated(j->h, "job_ended", "job %" PRId64 " is still there, in state %d",
                             rows->rows[i].job.id, (int)rows->rows[i].state);
    }
    for (size_t i = 1; i < j->count; i++) {
        struct history_job *job = &j->jobs[i];
        dead += job->at == AT_DEAD && !job->of_run; /* a retry removes what it retries */
        bool open = job->at == AT_OPEN || job->at == AT_WAITING || job->at == AT_GRANTED;
        if (!open)
            continue;
        bool found = false;
        for (size_t k = 0; k < rows->count && !found; k++)
            found = rows->rows[k].job.id == (int64_t)i;
        if (!found && (job->at == AT_GRANTED && job->cancel && history_job_over(j, job, now_ms)))
            end(j, job, (int64_t)i, AT_CANCELLED);
        else if (!found && job->of_run) /* a run removes its jobs when it is paused, retried or over */
            end(j, job, (int64_t)i, AT_DISCARDED);
        else if (!found)
            history_violated(j->h, "job_lost", "job %zu was accepted and is gone", i);
    }
    size_t shown = 0;
    for (size_t i = 0; i < rows->count; i++)
        shown += rows->rows[i].state == JOB_DEAD && !j->jobs[rows->rows[i].job.id].of_run;
    if (shown != dead)
        history_violated(j->h, "job_lost", "%zu dead jobs are known, the store has %zu", dead, shown);
}
