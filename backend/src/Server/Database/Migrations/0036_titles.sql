-- What the name of a release says (ReleaseTitle), so that lists show films instead of names. Rows of before are read after the start.
ALTER TABLE release ADD COLUMN titled INTEGER NOT NULL DEFAULT 0;  -- 1: the columns below are set, though all may be null
ALTER TABLE release ADD COLUMN title TEXT;                         -- null: the name tells nothing
ALTER TABLE release ADD COLUMN year INTEGER;
ALTER TABLE release ADD COLUMN season TEXT;                        -- a number or a range
ALTER TABLE release ADD COLUMN episodes TEXT;                      -- a number, a range or a date
ALTER TABLE release ADD COLUMN quality TEXT;
CREATE INDEX release_untitled ON release (id) WHERE titled = 0;

-- The sample of the import: how many articles answered, and how many of them no provider had.
ALTER TABLE release ADD COLUMN sampled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE release ADD COLUMN missing INTEGER NOT NULL DEFAULT 0;
CREATE INDEX release_gaps ON release (published_at) WHERE missing > 0;
