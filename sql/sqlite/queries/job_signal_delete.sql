-- job_signal_delete: a signal was used up.
DELETE FROM pawl_job_signal WHERE id = ?1
