/* Lease and token: a grant is fenced by a token that only grows. Workers stop at any moment and come back late; leases
 * run out at any moment. Whatever they do, a task ends once, by the holder of its newest token, and nothing is lost.
 *
 * Mutants: NO_FENCE accepts a report under any token; TOKEN_AGAIN grants an expired task under the token it had;
 * END_AND_KEEP ends a task and leaves its grant in force. */
#define WORKERS 3

byte token = 1;   /* the counter of the store */
byte granted = 0; /* token in force; 0: nobody holds the task */
bool done = false;
byte ends = 0, grants = 0;

proctype worker() {
    byte mine = 0, grant = 0; /* grant: which one it is, which no mutant changes */
    do
    :: mine == 0 -> /* claim */
        atomic {
            if
            :: granted == 0 && !done && grants < 4 ->
#ifndef TOKEN_AGAIN
                token++;
#endif
                mine = token; granted = token; grants++; grant = grants
            :: else -> break
            fi
        }
    :: mine != 0 -> /* the handler has run: report the end, or stop for good (the lease does the rest) */
        if
        :: atomic {
            true;
#ifdef NO_FENCE
            if
            :: !done ->
#else
            if
            :: granted == mine && !done ->
#endif
                assert(grant == grants); /* it was granted to no other worker since */
                done = true; ends++;
#ifndef END_AND_KEEP
                granted = 0
#endif
            :: else
            fi;
            mine = 0
        }
        :: atomic { /* reports a failure: back to the store */
            true;
            if
            :: granted == mine -> granted = 0
            :: else
            fi;
            mine = 0
        }
        :: break
        fi
    od
}

proctype clock() {
    do
    :: atomic { granted != 0 && grants < 4 -> granted = 0 } /* the lease is over */
    :: break
    od
}

init {
    byte i;
    atomic {
        for (i : 1 .. WORKERS) { run worker() }
        run clock()
    }
    (_nr_pr == 1);
    assert(ends <= 1);
    assert(!done || granted == 0)
}
