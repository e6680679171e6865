/* The doctor: checks a store, its server or file and the state of the work, and reports what endangers it. */
#ifndef WORK_DOCTOR_DOCTOR_H
#define WORK_DOCTOR_DOCTOR_H

#include "store/store.h"

enum doctor_severity { DOCTOR_WARNING = 1, DOCTOR_FAULT };

/* Everything that the checks use, read once. */
struct doctor_facts;

/* Appends what was found, nothing when all is well. */
typedef void doctor_look(const struct doctor_facts *facts, struct buf *found);

/* One check. The texts are for people: why it matters, what to do. */
struct doctor_check {
    const char *name;
    const char *stores; /* "all", "postgres", "sqlite" */
    enum doctor_severity severity;
    doctor_look *look; /* NULL: the store checks it (sql/DIALECT/doctor) */
    const char *why;
    const char *next;
};

extern const struct doctor_check doctor_checks[];
extern const size_t doctor_checks_count;

struct doctor_finding {
    const struct doctor_check *check;
    pawl_str found;
};

struct doctor_report {
    struct doctor_finding *findings; /* faults first, each in the order of the table */
    size_t count;
    size_t checks; /* that apply to this store */
    size_t faults, warnings;
};

/* What the caller knows and the store does not. */
struct doctor_input {
    int64_t job_lease_ms; /* that workers are given */
};

/* Runs every check that applies to the store. Changes nothing. Results in the arena. */
PAWL_MUSTCHECK pawl_status doctor_run(struct store *store, const struct doctor_input *input,
                                      struct arena *arena, struct doctor_report *out, pawl_error *err);

#endif
