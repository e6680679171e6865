-- pause_set: messages of a topic (1), of a stream (2) or for a handler (3) wait, a message (4, by its id) is cancelled; a pause that is there stays as it is. Everybody who listens is told, to look at once.
-- params: p_scope smallint, p_name text, p_reason text, p_actor text
-- returns: nothing
-- tables: pause (inserted)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.pause_set(p_scope smallint, p_name text, p_reason text, p_actor text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO pawl.pause (scope, name, reason, actor, since_ms)
    VALUES (p_scope, p_name, p_reason, p_actor, pawl.now_ms()) ON CONFLICT (scope, name) DO NOTHING;
    PERFORM pg_notify('pawl.wake', 'pause');
END
$$;
