-- settings_epoch: a new epoch: every token from now on is above every token before.
UPDATE settings SET epoch = epoch + 1
