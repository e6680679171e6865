-- transaction_commit: commit.
COMMIT
