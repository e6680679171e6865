-- token_below_counter: no token of a lane or claim is above the counter.
SELECT 'token ' || token || ' of ' || what || ' is above the counter' AS detail
  FROM settings,
       (SELECT token, 'lane ' || lane || ' of kind ' || kind AS what FROM lane
         UNION ALL SELECT token, 'a claim' FROM claim)
 WHERE token > epoch << 40 | last_token
