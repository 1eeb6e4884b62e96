import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtCommand } from './built.ts';

/** How a run of the command ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunningCommand {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it printed so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves when the output has the pattern. */
  readonly printed: (pattern: RegExp) => Promise<RegExpExecArray>;
}

export interface How {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Runs it in a terminal of this many columns, by `script`. */
  readonly columns?: number;
  readonly cwd?: string;
}

/** The spinner appears only when the service is slow, which is no matter of the tests. */
const withoutSpinner = (text: string): string => text.replace(/(?:\r[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏])+\r\u001b\[K/g, '');

/** The environment of a run: nothing of the shell that runs the tests. */
const ownEnvironment = (): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: process.env['HOME'] ?? '',
});

export async function startDoorward(args: readonly string[], how: How = {}): Promise<RunningCommand> {
  const main = await builtCommand();
  const [program, ...all] =
    how.columns === undefined
      ? [process.execPath, main, ...args]
      : ['script', '-qec', terminalCommand(main, args, how.columns), '/dev/null'];
  const child = spawn(program ?? '', all, {
    env: {
      ...ownEnvironment(),
      DOORWARD_CONFIG_DIR: join(tmpdir(), `doorward-cli-${randomUUID()}`),
      ...how.env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(how.cwd === undefined ? {} : { cwd: how.cwd }),
  });
  let [stdout, stderr] = ['', ''];
  const waiting = new Set<() => void>();
  const add = (name: 'stdout' | 'stderr') => (part: Buffer) => {
    if (name === 'stdout') stdout += part.toString();
    else stderr += part.toString();
    waiting.forEach((look) => look());
  };
  child.stdout.on('data', add('stdout'));
  child.stderr.on('data', add('stderr'));
  child.stdin.on('error', () => undefined);
  if (how.stdin !== undefined) child.stdin.end(how.stdin);
  else if (how.columns === undefined) child.stdin.end();
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (code) => {
      resolve({ code, stdout: withoutSpinner(stdout), stderr });
      waiting.forEach((look) => look());
    }),
  );
  const printed = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(stdout) ?? pattern.exec(stderr);
        if (match) resolve(match);
        else if (child.exitCode !== null)
          reject(new Error(`it ended without ${pattern}:\n${stdout}${stderr}`));
        else return;
        waiting.delete(look);
      };
      waiting.add(look);
      look();
    });
  return { child, ended, printed, stdout: () => stdout, stderr: () => stderr };
}

/** Runs the command to its end. */
export const doorward = async (args: readonly string[], how: How = {}): Promise<Ended> =>
  (await startDoorward(args, how)).ended;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const terminalCommand = (main: string, args: readonly string[], columns: number): string =>
  [`stty cols ${columns}`, ['exec', ...[process.execPath, main, ...args].map(quoted)].join(' ')].join('; ');

const folders: string[] = [];
process.once('exit', () => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** Removed when the tests end. */
export async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'doorward-cli-'));
  folders.push(folder);
  return folder;
}
