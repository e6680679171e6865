-- begin: starts a writing transaction.
BEGIN IMMEDIATE
