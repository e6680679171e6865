-- file_damage: the first thing that SQLite finds wrong with the file.
SELECT c.quick_check FROM pragma_quick_check(1) c WHERE c.quick_check <> 'ok'
