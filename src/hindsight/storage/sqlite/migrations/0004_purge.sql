-- What has been purged: ids and counts, nothing of what it said.
CREATE TABLE purged (
    namespace TEXT NOT NULL,
    id        TEXT NOT NULL,
    at        INTEGER NOT NULL,
    removed   TEXT NOT NULL, -- JSON object: how many rows of each sort went
    PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX purged_at ON purged (namespace, at, id);

-- Keyed digests of the keys of what has been purged: with the store's secret it is known again, without it nothing is.
CREATE TABLE purged_key (
    namespace TEXT NOT NULL,
    mark      TEXT NOT NULL,
    PRIMARY KEY (namespace, mark)
) STRICT, WITHOUT ROWID;
