-- What a new server has been used for once; the overview shows what is still to do, and never again once it was done.
CREATE TABLE first_step (
  name TEXT PRIMARY KEY,
  at INTEGER NOT NULL -- milliseconds since 1970
) STRICT, WITHOUT ROWID;
