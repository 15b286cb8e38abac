-- What has been learned about providers (F38). The id is the ProviderId of the settings; what stands here for one that is gone
-- is never asked for. Times are Unix milliseconds.
CREATE TABLE provider_cap (
  provider TEXT PRIMARY KEY,
  cap INTEGER NOT NULL            -- connections it takes, fewer than its account promises
) STRICT;

-- One row per article that a provider has said not to have.
CREATE TABLE provider_miss (
  key BLOB PRIMARY KEY,           -- 128 bits that stand for provider and article
  until INTEGER NOT NULL,
  believed INTEGER NOT NULL       -- milliseconds
) STRICT, WITHOUT ROWID;

CREATE INDEX provider_miss_until ON provider_miss (until);
