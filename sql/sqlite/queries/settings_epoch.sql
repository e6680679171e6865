-- settings_epoch: a new epoch: every token from now on is above every token before.
UPDATE pawl_settings SET epoch = epoch + 1
