/* Shared by the cron files only: the parsed fields and the calendar search. */
#ifndef DOMAIN_TIME_CRON_INT_H
#define DOMAIN_TIME_CRON_INT_H

#include "domain/time/cron.h"

/* Whether any day of the calendar's 400 years matches. */
bool cron_matches_ever(const struct cron *cron);

#endif
