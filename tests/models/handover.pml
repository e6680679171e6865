/* Hand-over of a lane: an instance that gives a lane up drains it, and its successor takes it when the last claim has ended;
 * an eviction ends the claims of the lane with its ownership. So the messages of a stream end in order, though a claim
 * takes what comes next without looking at other claims.
 *
 * Mutants: TAKE_DRAINING takes a lane over while claims of it are in force; EVICT_KEEPS leaves the claims of an evicted
 * owner in force; END_BY_NAME judges a report by its
 * message, whoever holds it. */
#define INSTANCES 2
#define MESSAGES 3
#define TURNS 3

byte owner = 0; /* 0: free */
bool draining = false;
byte turns = 0, token = 0;
byte held[MESSAGES];   /* the token it is claimed under; 0: waiting */
byte holder[MESSAGES]; /* the instance */
bool done[MESSAGES];

#define HELD(m) (held[m] != 0 && !done[m])
#define IN_FORCE (HELD(0) || HELD(1) || HELD(2))
#define LOWEST(m) (!done[m] && held[m] == 0 && (m == 0 || done[0] || held[0] != 0) && (m != 2 || done[1] || held[1] != 0))

proctype instance(byte me) {
    byte mine[MESSAGES];
    byte m = 0;
    do
#ifdef TAKE_DRAINING
    :: atomic { (owner == 0 || (owner != me && draining)) && turns < TURNS -> owner = me; draining = false; turns++ }
#else
    :: atomic { owner == 0 && turns < TURNS -> owner = me; draining = false; turns++ }
#endif
    :: atomic { owner == me && !draining && token < 5 && (LOWEST(0) || LOWEST(1) || LOWEST(2)) -> /* claim */
        if
        :: LOWEST(0) -> m = 0
        :: LOWEST(1) -> m = 1
        :: LOWEST(2) -> m = 2
        fi;
        token++; held[m] = token; holder[m] = me; mine[m] = token }
    :: atomic { mine[0] != 0 || mine[1] != 0 || mine[2] != 0 -> /* a worker runs what it holds of a stream in order */
        m = (mine[0] != 0 -> 0 : (mine[1] != 0 -> 1 : 2));
#ifdef END_BY_NAME
        if
        :: held[m] != 0 && !done[m] ->
#else
        if
        :: held[m] == mine[m] && !done[m] ->
#endif
            assert(held[m] == mine[m]);
            assert((m < 1 || done[0]) && (m < 2 || done[1])); /* in order */
            done[m] = true; held[m] = 0;
            if
            :: draining && owner == me && !IN_FORCE -> owner = 0; draining = false
            :: else
            fi
        :: else
        fi;
        mine[m] = 0 }
    :: atomic { owner == me && !draining -> /* gives the lane up */
        if
        :: IN_FORCE -> draining = true
        :: else -> owner = 0
        fi }
    :: break /* dies with what it holds */
    od
}

proctype peers() { /* evict the owner: it may live, and report later */
    byte m = 0;
    do
    :: atomic { owner != 0 ->
#ifndef EVICT_KEEPS
        for (m : 0 .. MESSAGES - 1) {
            if
            :: HELD(m) -> held[m] = 0
            :: else
            fi
        }
#endif
        owner = 0; draining = false }
    :: break
    od
}

init {
    byte i;
    atomic {
        for (i : 1 .. INSTANCES) { run instance(i) }
        run peers()
    }
    (_nr_pr == 1)
}
