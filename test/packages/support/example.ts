import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, vi } from 'vitest';
import { root, run } from './installation.ts';

/** Examples installed from the tarballs, and their programs. */
export interface Examples {
  /** Copies the example and installs what it needs. @returns its folder */
  readonly install: (name: string, ...more: readonly string[]) => Promise<string>;
  readonly remove: (name: string) => Promise<void>;
  /** Starts a program of an example, which `endAll` ends. */
  readonly start: (folder: string, args: readonly string[], env: Environment) => ChildProcess;
  readonly endAll: () => Promise<void>;
  readonly tidy: () => Promise<void>;
}

export type Environment = Readonly<Record<string, string>>;

export async function examplesIn(): Promise<Examples> {
  const directory = await mkdtemp(join(tmpdir(), 'doorward-examples-'));
  const children: ChildProcess[] = [];
  return {
    async install(name, ...more) {
      const folder = join(directory, name);
      await cp(join(root, 'examples', name), folder, { recursive: true });
      const tarballs = Object.values(inject('tarballs'));
      const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
      await run('npm', ['install', ...quiet, ...tarballs, ...more], folder);
      return folder;
    },
    remove: (name) => rm(join(directory, name), { recursive: true, force: true }),
    start(folder, args, env) {
      const child = spawn(process.execPath, args, {
        cwd: folder,
        env: { PATH: process.env['PATH'], NEXT_TELEMETRY_DISABLED: '1', ...env },
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      children.push(child);
      return child;
    },
    async endAll() {
      await Promise.all(children.splice(0).map(end));
    },
    tidy: () => rm(directory, { recursive: true, force: true }),
  };
}

/** SIGTERM; answers the exit code when the process is gone. */
export async function end(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  return ((await exit) as [number | null])[0];
}

export const answers = (url: string): Promise<Response> =>
  vi.waitFor(() => fetch(url), { timeout: 60_000, interval: 100 });

/** What a program of an example prints, which ends by itself. */
export const node = (folder: string, args: readonly string[], env: Environment): Promise<string> => {
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return run('env', [...assignments, process.execPath, ...args], folder);
};

/** The variables that a set-up prints for a shell. */
export const exported = (printed: string): Environment =>
  Object.fromEntries(
    [...printed.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
