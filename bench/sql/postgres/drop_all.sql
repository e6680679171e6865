-- drop_all: nothing of an earlier measurement is left.
DROP SCHEMA IF EXISTS pawl CASCADE;
DROP SCHEMA IF EXISTS bench CASCADE;
