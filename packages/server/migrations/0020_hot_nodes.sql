-- Every write of a tenant makes a new version of its node's row, which whoever writes a row of the tenant locks, and
-- whoever asks reads. Dead versions are cleared away from pages that are fuller than this, and else are in the way.
ALTER TABLE "nodes" SET (fillfactor = 10);
