-- settings_epoch: a new epoch: every token from now on is above every token before.
-- params: epoch, now_ms, cause
UPDATE pawl_settings SET epoch = ?1, epoch_ms = ?2, epoch_cause = ?3
