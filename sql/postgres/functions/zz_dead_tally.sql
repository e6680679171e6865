-- zz_dead_tally: keeps the number of dead letters per cause with the rows, one delta per statement and cause; of jobs, one per job.
-- tables: dead_tally (inserted)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.zz_dead_tally() RETURNS trigger
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_LEVEL = 'ROW' THEN
        INSERT INTO pawl.dead_tally (kind, fingerprint, letters)
        SELECT 4, CASE WHEN TG_OP = 'INSERT' THEN NEW.fingerprint ELSE OLD.fingerprint END,
               CASE WHEN TG_OP = 'INSERT' THEN 1 ELSE -1 END;
        RETURN NULL;
    END IF;
    INSERT INTO pawl.dead_tally (kind, fingerprint, letters)
    SELECT r.kind, r.fingerprint, CASE WHEN TG_OP = 'INSERT' THEN count(*) ELSE -count(*) END
      FROM changed r WHERE r.fingerprint IS NOT NULL GROUP BY r.kind, r.fingerprint;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER dead_counted_new AFTER INSERT ON pawl.dead
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pawl.zz_dead_tally();
CREATE OR REPLACE TRIGGER dead_counted_gone AFTER DELETE ON pawl.dead
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION pawl.zz_dead_tally();
CREATE OR REPLACE TRIGGER job_dead_counted_new AFTER INSERT ON pawl.job_aside
    FOR EACH ROW WHEN (NEW.state = 5) EXECUTE FUNCTION pawl.zz_dead_tally();
CREATE OR REPLACE TRIGGER job_dead_counted_gone AFTER DELETE ON pawl.job_aside
    FOR EACH ROW WHEN (OLD.state = 5) EXECUTE FUNCTION pawl.zz_dead_tally();
