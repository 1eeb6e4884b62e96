import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * The release before this version, whose data an upgrade keeps and beside which this version serves. A release sets it to
 * its own commit (docs/operating/release.md). FORMER_VERSION names another commit or tag for one run.
 */
const FORMER_RELEASE = '81417c376adeab1d46e46d89684685a2dadcff3d';

const root = join(import.meta.dirname, '../../../../..');
const run = promisify(execFile);
const git = async (...args: string[]) =>
  (await run('git', ['-C', root, ...args], { maxBuffer: 1e8 })).stdout.trim();

export interface FormerVersion {
  readonly commit: string;
  /** A checkout with a built service, for `startService({ root })`. */
  readonly folder: string;
}

/** @throws Error where the history of the repository does not reach back to it */
async function formerCommit(): Promise<string> {
  const name = process.env['FORMER_VERSION'] || FORMER_RELEASE;
  try {
    return await git('rev-parse', '--verify', `${name}^{commit}`);
  } catch (error) {
    throw new Error(`the former version ${name} is not in this clone: git fetch --unshallow`, {
      cause: error,
    });
  }
}

/** What its service is built from. It goes without the console, which takes longest to build and stores nothing. */
const parts = ['scripts', 'packages/server', 'packages/cli', 'packages/decision', 'packages/node'];

/** Checks the former version out and builds it, once for each commit: later runs find it below `dist`. */
export async function buildFormerVersion(): Promise<FormerVersion> {
  const commit = await formerCommit();
  const home = join(root, 'dist/former');
  const folder = join(home, commit);
  if (existsSync(folder)) return { commit, folder };
  await assertSameLibraries(commit);
  await mkdir(home, { recursive: true });
  const making = await mkdtemp(join(home, 'making-'));
  try {
    const archive = join(making, 'archive.tar');
    await git('archive', '-o', archive, commit, 'package.json', 'tsconfig.json', ...parts);
    await run('tar', ['-xf', archive, '-C', making]);
    await rm(archive);
    await writeFile(join(making, 'scripts/console.mjs'), 'export const buildConsole = () => undefined;\n');
    // Libraries are found in the folder above, which is this repository. The packages are those of the former version.
    await mkdir(join(making, 'node_modules/@doorward'), { recursive: true });
    for (const name of ['decision', 'node'])
      await symlink(`../../packages/${name}`, join(making, 'node_modules/@doorward', name));
    await run(process.execPath, ['scripts/run.mjs', '--build-only', 'packages/server/src/main.ts'], {
      cwd: making,
    });
    await rename(making, folder);
  } catch (error) {
    await rm(making, { recursive: true, force: true });
    // Another run was faster.
    if (!existsSync(folder)) throw error;
  }
  return { commit, folder };
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dependencies?: Readonly<Record<string, string>> }>>;
}

/** It is built with the libraries that are installed here: another version of one would make another service of it. */
async function assertSameLibraries(commit: string): Promise<void> {
  const librariesAt = async (at: string) => {
    const { packages } = JSON.parse(await git('show', `${at}:package-lock.json`)) as Lock;
    return packages['packages/server']?.dependencies ?? {};
  };
  const [former, now] = [await librariesAt(commit), await librariesAt('HEAD')];
  const other = Object.entries(former).filter(([name, version]) => now[name] !== version);
  if (other.length > 0)
    throw new Error(
      `the former version needs other libraries: ${other.map((library) => library.join('@')).join(', ')}`,
    );
}
