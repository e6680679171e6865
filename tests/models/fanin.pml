/* The fan-in of a run: the transaction that ends a partition lowers the counter, and whoever lowers it to zero starts the
 * one job that follows. Pages are delivered more than once, by several workers.
 *
 * Mutants: COUNT_TWICE lowers the counter for every delivery; READ_THEN_WRITE reads the counter in one step and writes it
 * in another; LOOK_LATER looks whether it is zero in a transaction of its own. */
#define PARTITIONS 2
#define DELIVERIES 2

byte remaining = PARTITIONS, consolidations = 0;
bool ended[PARTITIONS];
byte ends = 0;

proctype delivery(byte partition) {
    byte seen = 0;
#ifdef READ_THEN_WRITE
    bool first = false;
    atomic {
        first = !ended[partition];
        ended[partition] = true;
        seen = remaining
    };
    if
    :: first ->
        remaining = seen - 1;
        if
        :: seen - 1 == 0 -> consolidations++
        :: else
        fi
    :: else
    fi
#else
    atomic {
#ifdef COUNT_TWICE
        if
        :: remaining > 0 ->
#else
        if
        :: !ended[partition] -> /* the row of the partition is locked: the other delivery waits, and finds it ended */
#endif
            if
            :: !ended[partition] -> ends++
            :: else
            fi;
            ended[partition] = true;
            remaining--;
            seen = 1;
#ifndef LOOK_LATER
            if
            :: remaining == 0 -> assert(ends == PARTITIONS); consolidations++
            :: else
            fi
#endif
        :: else
        fi
    };
#ifdef LOOK_LATER
    atomic {
        if
        :: seen == 1 && remaining == 0 -> consolidations++
        :: else
        fi
    }
#endif
#endif
}

init {
    byte p, d;
    atomic {
        for (p : 0 .. PARTITIONS - 1) {
            for (d : 1 .. DELIVERIES) { run delivery(p) }
        }
    }
    (_nr_pr == 1);
    assert(consolidations == 1)
}
