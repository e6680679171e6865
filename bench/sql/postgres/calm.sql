-- calm: nobody pays for the writes of what came before.
CHECKPOINT;
