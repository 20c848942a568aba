-- The row of a session, or empty; reads only.
-- KEYS  session, claims
return row(KEYS[1], KEYS[2])
