/* Tokens after a failover: the new primary lacks the last commits of the old one, also raises of the epoch among them. A
 * token is the epoch and a counter. No token is ever issued twice, on whichever server.
 *
 * Every timeline begins 8 epochs above the one before it; a server may raise its own for other reasons up to 3 times here.
 * Mutants: NO_RAISE goes on in the epoch it finds; RAISE_BY_ONE adds one to the epoch it finds, which the old server may
 * have done as well; COUNTER_ONLY keeps the epoch and skips 2 of the counter. */
#define COUNTS 4 /* counter values per epoch */
#define RAISES 3
#define TOKENS 112

byte epoch = 0, counter = 0;       /* of the primary */
byte copy_epoch = 0, copy_counter = 0; /* what the standby has received */
byte timeline = 0, raises = 0, issued = 0;
byte watched = 0, times = 0; /* any one token, and how often it was issued */

proctype server() {
    byte token;
    do
    :: atomic { issued < 3 && counter < COUNTS - 1 ->
        counter++; issued++;
        token = epoch * COUNTS + counter;
        if
        :: token == watched -> assert(times == 0); times++
        :: else
        fi }
    :: atomic { raises < RAISES && epoch < 30 -> raises++; epoch++; counter = 0 } /* lost commits were noticed, a cluster changed */
    :: atomic { copy_epoch != epoch || copy_counter != counter -> copy_epoch = epoch; copy_counter = counter }
    :: atomic { timeline < 2 -> /* the standby is promoted with what it has */
        timeline++; raises = 0; issued = 0;
        epoch = copy_epoch; counter = copy_counter;
#ifdef NO_RAISE
        skip
#else
#ifdef RAISE_BY_ONE
        epoch++; counter = 0
#else
#ifdef COUNTER_ONLY
        counter = (counter + 2 < COUNTS -> counter + 2 : COUNTS - 1)
#else
        epoch = epoch + 8; counter = 0
#endif
#endif
#endif
        ; copy_epoch = epoch; copy_counter = counter }
    :: timeline == 2 && issued > 0 -> break
    od
}

init {
    select(watched : 1 .. TOKENS);
    run server()
}
