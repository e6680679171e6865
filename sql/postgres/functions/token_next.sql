-- token_next: the next token of the schema, epoch << 40 | counter; of a new epoch after a failover, which it leaves to a
-- worker to write: the transaction it runs in may be a client's and stay open.
-- returns: bigint, greater than every token given before
-- tables: settings (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.token_next() RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_epoch bigint;
BEGIN
    SELECT s.epoch INTO v_epoch FROM pawl.settings s
     WHERE s.timeline = left(pg_walfile_name(pg_current_wal_lsn()), 8);
    IF NOT FOUND THEN
        v_epoch := pawl.epoch_now();
    END IF;
    RETURN (v_epoch << 40) | nextval('pawl.token_seq');
END
$$;
