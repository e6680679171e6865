-- epoch_raise: see functions/epoch_raise.sql
SELECT pawl.epoch_raise()
