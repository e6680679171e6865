-- token_below_counter: no token of a lane, claim or checkpoint is above the counter.
SELECT 'token ' || token || ' of ' || what || ' is above the counter' AS detail
  FROM pawl_settings,
       (SELECT token, 'lane ' || lane || ' of kind ' || kind AS what FROM pawl_lane
         UNION ALL SELECT token, 'a claim' FROM pawl_claim
         UNION ALL SELECT token, perspective || ' in ' || stream FROM pawl_checkpoint)
 WHERE token > epoch << 40 | last_token
