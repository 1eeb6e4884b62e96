import { execFileSync } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeReleaseFiles } from './release-files.ts';

/** Builds all packages and writes the files of a release to `dist/release`: npm run release. It publishes nothing. */
const root = join(import.meta.dirname, '..');
const directory = join(root, 'dist/release');
execFileSync(process.execPath, ['scripts/run.mjs', 'scripts/packages.ts'], { cwd: root, stdio: 'inherit' });
await rm(directory, { recursive: true, force: true });
await mkdir(directory, { recursive: true });
const { files } = await writeReleaseFiles(root, directory);
for (const file of files) process.stdout.write(`${file.slice(root.length + 1)}\n`);
