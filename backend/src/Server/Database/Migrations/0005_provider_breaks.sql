-- Where the breakers of providers stand, so that a restart sends nobody to a provider that is known to fail (F38).
CREATE TABLE provider_break (
  provider TEXT NOT NULL,
  kind INTEGER NOT NULL,          -- BreakerKind: what the provider is asked for
  fault INTEGER,                  -- NntpFault; null: closed, but opened of late
  opened_at INTEGER NOT NULL,
  rests_until INTEGER NOT NULL,
  cooldown INTEGER NOT NULL,      -- milliseconds
  trips INTEGER NOT NULL,
  passes_left INTEGER NOT NULL,
  PRIMARY KEY (provider, kind)
) STRICT, WITHOUT ROWID;
