-- epoch_now: the epoch on the timeline that the server is on, whether or not it has been written yet.
-- returns: the epoch of settings; when the server is on another timeline than the one known there, what epoch_follow will write
-- tables: settings (read)
-- locks: none
-- Tokens are made of it in transactions of clients, which may stay open for long: so it writes and locks nothing, and waits for
-- nobody. It agrees with what is written later, by whomever: both add how many timelines further the server is, so that a second
-- promotion before the first was written counts too, and nothing that changes the epoch lowers it.
CREATE OR REPLACE FUNCTION pawl.epoch_now() RETURNS bigint
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT s.epoch + CASE WHEN s.timeline = t.timeline THEN 0
                          ELSE greatest(1, ('x' || t.timeline)::bit(32)::bigint - ('x' || s.timeline)::bit(32)::bigint) END
      FROM pawl.settings s, (SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline) t
$$;
