/* The table of exit codes; base/error.h maps statuses to these numbers, and a test compares them. */
#include "cli/exit_codes.h"

const struct exit_code exit_codes[] = {
    {0, "ok", "It was done, or had been done before"},
    {1, "violations", "pawl check found a broken invariant, or pawl doctor a warning"},
    {2, "faults", "pawl doctor found a fault"},
    {64, "usage", "The command line or the configuration is wrong"},
    {65, "invalid", "The input data is wrong: correct it"},
    {66, "not found", "What was named does not exist"},
    {69, "unavailable", "Nothing happened: safe to try again"},
    {70, "internal", "A defect of pawl: please report it"},
    {71, "no memory", "There is not enough memory"},
    {72, "damaged", "The database is damaged, or was replaced in use: stop its users and look"},
    {73, "conflict", "The state forbids it, or it was not confirmed: look, then decide"},
    {74, "stale", "The grant has ended: an old token or an evicted instance"},
    {75, "busy", "It is held by another worker or session: try again later"},
    {76, "unknown", "It may have happened: look before you try again"},
};

const size_t exit_codes_count = sizeof exit_codes / sizeof exit_codes[0];
