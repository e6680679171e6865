-- file_damaged: the file does not pass the quick check of SQLite.
SELECT c.quick_check FROM pragma_quick_check(10) c WHERE c.quick_check <> 'ok'
