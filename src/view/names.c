/* The words for enum values in output. */
#include "view/names.h"

#define NAME(grid, index) ((size_t)(index) < sizeof(grid) / sizeof *(grid) ? (grid)[index] : NULL)

const char *const kind_names[KIND_COUNT + 1] = {
    [KIND_OUTBOX] = "outbox", [KIND_INBOX] = "inbox", [KIND_PERSPECTIVE] = "perspective"};

const char *const state_names[STATE_DONE + 1] = {
    [STATE_READY] = "ready",     [STATE_LEASED] = "leased", [STATE_SCHEDULED] = "scheduled",
    [STATE_BLOCKED] = "blocked", [STATE_DEAD] = "dead",     [STATE_DONE] = "done"};

const char *const job_states[JOB_STATE_LAST + 1] = {[JOB_READY] = "ready",
                                                    [JOB_RUNNING] = "running",
                                                    [JOB_LATER] = "later",
                                                    [JOB_WAITING] = "waiting",
                                                    [JOB_DEAD] = "dead"};

const char *const epoch_causes[EPOCH_CAUSE_LAST + 1] = {"first", "asked", "timeline", "copy", "went_back"};

const char *const policy_names[POLICY_PARK + 1] = {
    [POLICY_DEFAULT] = "default", [POLICY_BLOCK] = "block", [POLICY_SKIP] = "skip", [POLICY_PARK] = "park"};

const char *kind_name(enum store_kind kind) { return NAME(kind_names, kind); }

const char *answer_name(enum store_answer answer) {
    static const char *const names[] = {
        [ANSWER_APPLIED] = "applied",   [ANSWER_DUPLICATE] = "duplicate", [ANSWER_STALE] = "stale",
        [ANSWER_CONFLICT] = "conflict", [ANSWER_INVALID] = "invalid",     [ANSWER_NOT_FOUND] = "not found"};
    return NAME(names, answer);
}

const char *epoch_cause_name(int cause) {
    return cause >= 0 && cause <= EPOCH_CAUSE_LAST ? epoch_causes[cause] : "?";
}

const char *const cause_names[WHY_CANCELLED + 1] = {[WHY_UNKNOWN_MESSAGE] = "unknown message",
                                                    [WHY_RUNNING] = "running",
                                                    [WHY_LEASE_OVER] = "lease over",
                                                    [WHY_READY] = "ready",
                                                    [WHY_NO_OWNER] = "no owner",
                                                    [WHY_OWNER_SILENT] = "owner silent",
                                                    [WHY_DRAINING] = "draining",
                                                    [WHY_BEHIND] = "behind",
                                                    [WHY_SCHEDULED] = "scheduled",
                                                    [WHY_SUSPECT] = "suspect",
                                                    [WHY_BLOCKED] = "blocked",
                                                    [WHY_DEAD] = "dead",
                                                    [WHY_DONE] = "done",
                                                    [WHY_PAUSED] = "paused",
                                                    [WHY_CANCELLED] = "cancelled"};

const char *cause_name(enum why_cause cause) { return NAME(cause_names, cause); }

const char *reason_name(enum message_state state, int reason) {
    static const char *const aside[] = {[ASIDE_FAILED] = "failed",
                                        [ASIDE_BEHIND] = "behind",
                                        [ASIDE_EXPIRED] = "expired",
                                        [ASIDE_RELEASED] = "released",
                                        [ASIDE_REDRIVEN] = "redriven"};
    static const char *const dead[] = {[DEAD_ATTEMPTS] = "attempts",
                                       [DEAD_PERMANENT] = "permanent",
                                       [DEAD_KILLED] = "killed",
                                       [DEAD_PARKED] = "parked",
                                       [DEAD_CANCELLED] = "cancelled"};
    if (state == STATE_DEAD)
        return NAME(dead, reason);
    return NAME(aside, reason);
}
