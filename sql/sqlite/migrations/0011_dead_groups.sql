-- dead_groups: how many dead letters have the same cause, so that nobody counts them.

-- kind 4: jobs. Kept by triggers, so that no way of moving a row can forget it.
CREATE TABLE pawl_dead_tally (
    kind        INTEGER NOT NULL CHECK (kind BETWEEN 1 AND 4),
    fingerprint TEXT NOT NULL,
    letters     INTEGER NOT NULL,
    PRIMARY KEY (kind, fingerprint)
) STRICT, WITHOUT ROWID;
INSERT INTO pawl_dead_tally SELECT kind, fingerprint, count(*) FROM pawl_dead WHERE fingerprint IS NOT NULL GROUP BY kind, fingerprint;
INSERT INTO pawl_dead_tally SELECT 4, fingerprint, count(*) FROM pawl_job WHERE state = 5 AND fingerprint IS NOT NULL GROUP BY fingerprint;

CREATE TRIGGER pawl_dead_counted_new AFTER INSERT ON pawl_dead WHEN NEW.fingerprint IS NOT NULL BEGIN
    INSERT INTO pawl_dead_tally VALUES (NEW.kind, NEW.fingerprint, 1) ON CONFLICT DO UPDATE SET letters = letters + 1;
END;
CREATE TRIGGER pawl_dead_counted_gone AFTER DELETE ON pawl_dead WHEN OLD.fingerprint IS NOT NULL BEGIN
    UPDATE pawl_dead_tally SET letters = letters - 1 WHERE kind = OLD.kind AND fingerprint = OLD.fingerprint;
    DELETE FROM pawl_dead_tally WHERE kind = OLD.kind AND fingerprint = OLD.fingerprint AND letters = 0;
END;
CREATE TRIGGER pawl_job_dead_counted_new AFTER UPDATE OF state ON pawl_job WHEN NEW.state = 5 AND OLD.state <> 5 BEGIN
    INSERT INTO pawl_dead_tally VALUES (4, NEW.fingerprint, 1) ON CONFLICT DO UPDATE SET letters = letters + 1;
END;
CREATE TRIGGER pawl_job_dead_counted_back AFTER UPDATE OF state ON pawl_job WHEN OLD.state = 5 AND NEW.state <> 5 BEGIN
    UPDATE pawl_dead_tally SET letters = letters - 1 WHERE kind = 4 AND fingerprint = OLD.fingerprint;
    DELETE FROM pawl_dead_tally WHERE kind = 4 AND fingerprint = OLD.fingerprint AND letters = 0;
END;
CREATE TRIGGER pawl_job_dead_counted_gone AFTER DELETE ON pawl_job WHEN OLD.state = 5 BEGIN
    UPDATE pawl_dead_tally SET letters = letters - 1 WHERE kind = 4 AND fingerprint = OLD.fingerprint;
    DELETE FROM pawl_dead_tally WHERE kind = 4 AND fingerprint = OLD.fingerprint AND letters = 0;
END;

-- The first of a group, and its letters in order.
CREATE INDEX pawl_dead_first ON pawl_dead (kind, fingerprint, seq);
CREATE INDEX pawl_job_dead_first ON pawl_job (fingerprint, id) WHERE state = 5;
