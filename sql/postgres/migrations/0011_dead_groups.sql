-- dead_groups: how many dead letters have the same cause, so that nobody counts them.

-- Deltas, as in tally: the truth is the sum. kind 4: jobs. A trigger on each table adds them, maintain folds them.
CREATE TABLE pawl.dead_tally (
    kind smallint NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    letters bigint NOT NULL,
    CONSTRAINT dead_tally_kind_known CHECK (kind BETWEEN 1 AND 4)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
INSERT INTO pawl.dead_tally (kind, fingerprint, letters)
SELECT d.kind, d.fingerprint, count(*) FROM pawl.dead d WHERE d.fingerprint IS NOT NULL GROUP BY d.kind, d.fingerprint
UNION ALL
SELECT 4, a.fingerprint, count(*) FROM pawl.job_aside a WHERE a.state = 5 AND a.fingerprint IS NOT NULL GROUP BY a.fingerprint;

-- The first of a group, and when it began and ended.
DROP INDEX pawl.dead_fingerprint;
CREATE INDEX dead_fingerprint ON pawl.dead (kind, fingerprint, seq);
CREATE INDEX dead_died ON pawl.dead (kind, fingerprint, died_ms);
CREATE INDEX job_aside_died ON pawl.job_aside (fingerprint, died_ms, id) WHERE state = 5;
