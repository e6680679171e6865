-- transaction_rollback: roll back.
ROLLBACK
