-- What each provider was used for, by days of the server's time zone (SAB-46). The id is the ProviderId of the settings; rows of
-- providers that are gone still count in the totals.
CREATE TABLE provider_usage (
  provider TEXT NOT NULL,
  day TEXT NOT NULL,              -- as in 2026-01-03
  bytes INTEGER NOT NULL,
  tried INTEGER NOT NULL,         -- articles that it was asked for and answered for
  found INTEGER NOT NULL,         -- those of them that it sent
  PRIMARY KEY (provider, day)
) STRICT, WITHOUT ROWID;
