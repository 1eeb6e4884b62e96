import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes the next migration: `npm run migration -- --name=role_color`. Arguments go to `drizzle-kit generate`, which
 * compares the tables with the newest snapshot only, so older snapshots are removed.
 */
const server = join(import.meta.dirname, '../packages/server');
const { status, error } = spawnSync('npx', ['drizzle-kit', 'generate', ...process.argv.slice(2)], {
  cwd: server,
  stdio: 'inherit',
});
if (error) throw error;
process.exitCode = status ?? 1;
if (status === 0) {
  const folder = join(server, 'migrations/meta');
  const snapshots = readdirSync(folder).filter((file) => file.endsWith('_snapshot.json'));
  for (const file of snapshots.sort().slice(0, -1)) rmSync(join(folder, file));
}
