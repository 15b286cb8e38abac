-- What moved in a minute, for charts over restarts. Minutes in which nothing moved have no row, so an idle server writes nothing.
CREATE TABLE rate_minute (
  minute INTEGER PRIMARY KEY,     -- since 1970
  received INTEGER NOT NULL,      -- bytes from providers
  sent INTEGER NOT NULL,          -- bytes to players
  cached INTEGER NOT NULL,        -- bytes of those from memory or disk
  streams INTEGER NOT NULL,       -- most at once
  connections INTEGER NOT NULL    -- most with a reply pending
) STRICT;

CREATE TABLE rate_provider (
  minute INTEGER NOT NULL,
  provider TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (minute, provider)
) STRICT, WITHOUT ROWID;
