-- full_page_writes_off: a torn page cannot be repaired after a crash.
SELECT 'full_page_writes is off' WHERE pg_catalog.current_setting('full_page_writes') = 'off'
