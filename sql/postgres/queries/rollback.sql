-- rollback: gives it up.
ROLLBACK
