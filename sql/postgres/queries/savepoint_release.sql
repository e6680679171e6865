-- savepoint_release: the step worked.
RELEASE SAVEPOINT step
