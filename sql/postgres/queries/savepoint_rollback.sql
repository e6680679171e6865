-- savepoint_rollback: the step did not work.
ROLLBACK TO SAVEPOINT step
