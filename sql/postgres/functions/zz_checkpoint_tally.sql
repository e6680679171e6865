-- zz_checkpoint_tally: keeps the counts by perspective and status with the rows, one delta per statement and perspective.
-- tables: perspective_tally (inserted)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.zz_checkpoint_tally() RETURNS trigger
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO pawl.perspective_tally (key, checkpoints, pending, processing, completed, failed, stopped)
        SELECT n.perspective, count(*), count(*) FILTER (WHERE n.status = 0), count(*) FILTER (WHERE n.status = 1),
               count(*) FILTER (WHERE n.status = 2), count(*) FILTER (WHERE n.status = 3), count(*) FILTER (WHERE n.stopped)
          FROM after_rows n GROUP BY n.perspective;
        RETURN NULL;
    END IF;
    INSERT INTO pawl.perspective_tally (key, pending, processing, completed, failed, stopped)
    SELECT d.perspective, coalesce(sum(d.sign) FILTER (WHERE d.status = 0), 0), coalesce(sum(d.sign) FILTER (WHERE d.status = 1), 0),
           coalesce(sum(d.sign) FILTER (WHERE d.status = 2), 0), coalesce(sum(d.sign) FILTER (WHERE d.status = 3), 0), coalesce(sum(d.sign) FILTER (WHERE d.stopped), 0)
      FROM (SELECT n.perspective, n.status, n.stopped, 1 AS sign FROM after_rows n
            UNION ALL
            SELECT o.perspective, o.status, o.stopped, -1 FROM before_rows o) d
     GROUP BY d.perspective;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER checkpoint_counted_new AFTER INSERT ON pawl.checkpoint
    REFERENCING NEW TABLE AS after_rows FOR EACH STATEMENT EXECUTE FUNCTION pawl.zz_checkpoint_tally();
CREATE OR REPLACE TRIGGER checkpoint_counted AFTER UPDATE ON pawl.checkpoint
    REFERENCING OLD TABLE AS before_rows NEW TABLE AS after_rows FOR EACH STATEMENT EXECUTE FUNCTION pawl.zz_checkpoint_tally();
