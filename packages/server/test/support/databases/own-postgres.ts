import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../../../../scripts/service.ts';

/** A PostgreSQL server that the test may stop, kill and start again. */
export interface OwnPostgres {
  readonly url: string;
  /**
   * As an administrator does it (`fast`), or as a machine that loses its power (`immediate`). Resolves when it is
   * down.
   */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  /** Resolves when it takes connections. */
  start(): Promise<void>;
  /** Stops it and removes all its files. */
  remove(): Promise<void>;
}

/** The folder of `initdb` and `pg_ctl`; null where no server is installed, or the test may not change to its user. */
export async function serverBinaries(): Promise<string | null> {
  if (process.getuid?.() !== 0) return null;
  const base = '/usr/lib/postgresql';
  const versions = await readdir(base).catch(() => []);
  const newest = versions.sort((a, b) => Number(a) - Number(b)).at(-1);
  return newest === undefined ? null : join(base, newest, 'bin');
}

/** Folders on other disks, for data that is stored separately. */
interface Places {
  readonly tables?: string;
  /** Of the write-ahead log. */
  readonly log?: string;
}

export async function ownPostgres(binaries: string, places: Places = {}): Promise<OwnPostgres> {
  const home = await mkdtemp(join(tmpdir(), 'doorward-postgres-'));
  await chmod(home, 0o777);
  const data = join(places.tables ?? home, 'data');
  const port = await freePort();
  // The server refuses to run as root.
  const run = (program: string, ...rest: string[]) =>
    promisify(execFile)('runuser', ['-u', 'postgres', '--', join(binaries, program), '-D', data, ...rest], {
      cwd: home,
    });
  await run(
    'initdb',
    ...['-A', 'trust', '-U', 'postgres', '--no-sync'],
    // Small segments, for small disks.
    '--wal-segsize=1',
    ...['-X', join(places.log ?? home, 'written-ahead')],
  );
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${home}`;
  const start = async () =>
    void (await run('pg_ctl', '-l', join(home, 'log'), '-w', '-t', '30', '-o', settings, 'start'));
  const stop = async (mode: 'fast' | 'immediate') => void (await run('pg_ctl', '-w', '-m', mode, 'stop'));
  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start,
    stop,
    async remove() {
      await stop('immediate').catch(() => undefined);
      await rm(home, { recursive: true, force: true });
    },
  };
}
