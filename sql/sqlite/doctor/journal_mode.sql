-- journal_mode: the file is not in WAL mode.
SELECT 'the journal mode is ' || m.journal_mode FROM pragma_journal_mode m WHERE m.journal_mode <> 'wal'
