-- Work that comes again. Whoever moves `due` on puts in the jobs, so each turn comes once among all processes.
CREATE TABLE schedule (
    name TEXT NOT NULL PRIMARY KEY,
    cron TEXT NOT NULL,
    due  INTEGER NOT NULL,
    last INTEGER
) STRICT, WITHOUT ROWID;
