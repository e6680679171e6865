-- begin: opens the transaction of several statements.
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE
