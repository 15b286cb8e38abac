-- Bytes used of the data caps of accounts (HLT-101). One row per account with a cap; the cap itself is a setting.
CREATE TABLE provider_quota (
  provider TEXT NOT NULL PRIMARY KEY,   -- the entry of the settings for which the bytes count
  period TEXT NOT NULL,                 -- first local day of the current period; 0001-01-01 for a block
  used INTEGER NOT NULL,                -- bytes in the period, when this row was written
  refilled INTEGER NOT NULL,            -- bytes added to the cap in the period
  recent INTEGER NOT NULL,              -- bytes of the last interval before this row; the estimate for those lost by a kill, 0 after a regular stop
  warned INTEGER NOT NULL,              -- the highest warning of the period, in percent
  reset_day INTEGER NOT NULL,           -- the settings from which the count began
  used_before INTEGER NOT NULL,
  used_before_at INTEGER NOT NULL       -- Unix ms
) STRICT, WITHOUT ROWID;
