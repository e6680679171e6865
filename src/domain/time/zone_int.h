/* The parts of a zone; for the files zone*.c only. */
#ifndef DOMAIN_TIME_ZONE_INT_H
#define DOMAIN_TIME_ZONE_INT_H

#include "base/limits.h"
#include "base/time/civil.h"
#include "domain/time/zone.h"

/* From at_s on, offset_s holds. */
struct zone_change {
    int64_t at_s;
    int32_t offset_s;
};

/*
 * The changes of the file and, after them, those of its rule for 400 years: the calendar repeats then, so
 * that a later instant is looked up that many cycles earlier.
 */
struct zone {
    char name[PAWL_ZONE_NAME_BYTES_MAX + 1];
    int32_t first_offset_s; /* before the first change */
    bool repeats;           /* the changes from repeat_from_s on repeat every 400 years */
    int64_t repeat_from_s;
    size_t count;
    struct zone_change changes[]; /* each differs from the one before */
};

#define ZONE_CYCLE_S ((int64_t)CIVIL_CYCLE_DAYS * CIVIL_DAY_S)

#endif
