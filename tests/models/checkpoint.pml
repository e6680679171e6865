/* A checkpoint of a perspective: its events are applied and it is moved in one transaction, under the token of its grant.
 * So every event is in the model once, whoever is stopped between two steps.
 *
 * Mutants: APART applies and moves in two transactions; NO_TOKEN moves under any token; READ_OUTSIDE reads the version
 * to continue from before the grant. */
#define EVENTS 3

byte checkpoint = 0, token = 0, holder = 0, grants = 0;
byte applied[EVENTS];

proctype worker() {
    byte mine = 0, from = 0;
    do
    :: grants < 4 && mine == 0 ->
#ifdef READ_OUTSIDE
        from = checkpoint;
#endif
        atomic { /* claim: also one whose lease is over */
            grants++; token++; holder = token; mine = token;
#ifndef READ_OUTSIDE
            from = checkpoint
#endif
        }
    :: mine != 0 && from < EVENTS ->
#ifdef APART
        atomic {
            if
            :: holder == mine -> applied[from]++
            :: else
            fi
        };
        if
        :: true
        :: mine = 0; break /* killed between the two */
        fi;
        atomic {
            if
            :: holder == mine -> from++; checkpoint = from
            :: else -> mine = 0
            fi
        }
#else
        atomic { /* one transaction: a kill undoes all of it */
#ifdef NO_TOKEN
            if
            :: true ->
#else
            if
            :: holder == mine ->
#endif
                applied[from]++; from++; checkpoint = from
            :: else -> mine = 0
            fi
        }
#endif
    :: mine != 0 -> mine = 0; break
    :: break
    od
}

init {
    byte i;
    atomic {
        run worker();
        run worker()
    }
    (_nr_pr == 1);
    for (i : 0 .. EVENTS - 1) {
        assert(applied[i] <= 1);
        assert(applied[i] == (i < checkpoint -> 1 : 0))
    }
}
