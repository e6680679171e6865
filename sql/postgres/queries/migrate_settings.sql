-- migrate_settings: how names are resolved and bodies checked while a migration runs.
-- Bodies are not checked when a function is made: functions call each other, in any order of files.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), pg_catalog.set_config('check_function_bodies', 'off', true)
