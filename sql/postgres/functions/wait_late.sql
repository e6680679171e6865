-- wait_late: whether somebody is putting messages or jobs right now who may not have seen who waits.
-- params: none
-- returns: true: poll again soon, the wish may have come too late for them
-- tables: none; reads the locks of the tables that work is put into
-- locks: none
CREATE OR REPLACE FUNCTION pawl.wait_late() RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT 1 FROM pg_locks k
                    WHERE k.locktype = 'relation'
                      AND k.relation IN ('pawl.message'::regclass, 'pawl.job'::regclass, 'pawl.job_aside'::regclass,
                                         'pawl.schedule'::regclass)
                      AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
                      AND k.mode = 'RowExclusiveLock' AND k.granted AND k.pid <> pg_backend_pid());
END
$$;
