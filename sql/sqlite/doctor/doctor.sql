-- doctor: settings of the file and the library that endanger the work.

-- name: free_pages
-- Most of the file is empty, and it is not small.
SELECT f.freelist_count || ' of ' || p.page_count || ' pages are free' FROM pragma_freelist_count f, pragma_page_count p
 WHERE f.freelist_count > 5000 AND f.freelist_count * 2 > p.page_count

-- name: journal_mode
-- The file is not in WAL mode.
SELECT 'the journal mode is ' || m.journal_mode FROM pragma_journal_mode m WHERE m.journal_mode <> 'wal'

-- name: library_old
-- The SQLite library is older than what pawl is tested with.
SELECT 'the library is SQLite ' || sqlite_version() WHERE substr(sqlite_version(), 1, 2) = '3.'
   AND CAST(substr(sqlite_version(), 3) AS INTEGER) < 40

-- name: synchronous_normal
-- A commit may be lost with the power.
SELECT 'synchronous is ' || s.synchronous FROM pragma_synchronous s WHERE s.synchronous < 2

-- name: trigger_foreign
-- A trigger that is not ours is on a table of pawl's.
SELECT 'trigger ' || s.name || ' on ' || s.tbl_name FROM sqlite_schema s
 WHERE s.type = 'trigger' AND s.tbl_name LIKE 'pawl\_%' ESCAPE '\' AND s.name NOT LIKE 'pawl\_%' ESCAPE '\'
