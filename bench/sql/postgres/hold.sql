-- hold: a transaction with an id and a snapshot, as a forgotten session or a long report has; it ends with its session.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT pg_current_xact_id();
