-- job_tally_add: what one call did to the jobs of a queue.
INSERT INTO pawl_job_tally VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT (queue) DO UPDATE SET ready = ready + ?2, running = running + ?3, later = later + ?4, waiting = waiting + ?5, dead = dead + ?6,
    put = put + ?7, done = done + ?8, failed = failed + ?9, lost = lost + ?10, died = died + ?11, cancelled = cancelled + ?12,
    redriven = redriven + ?13, discarded = discarded + ?14, stale = stale + ?15
