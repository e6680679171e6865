-- savepoint: a step of a migration that may be tried in another way.
SAVEPOINT step
