import { spawn, type ChildProcess } from 'node:child_process';
import { builtCommand } from './built.ts';
import { environmentOf, type How } from './how.ts';
import { RecordedOutput, type Ended } from './recorded-output.ts';

interface RunningProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  readonly printed: RecordedOutput['printed'];
}

/** Starts the built command in a separate process, as users do. `script` provides the terminal, if there is one. */
export async function startDoorwardProcess(args: readonly string[], how: How = {}): Promise<RunningProcess> {
  const main = await builtCommand();
  const [program = '', ...all] =
    how.columns === undefined
      ? [process.execPath, main, ...args]
      : ['script', '-qec', terminalCommand(main, args, how.columns), '/dev/null'];
  const child = spawn(program, all, {
    env: environmentOf(how),
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(how.cwd === undefined ? {} : { cwd: how.cwd }),
  });
  const output = new RecordedOutput();
  child.stdout.on('data', (part: Buffer) => output.add('stdout', part.toString()));
  child.stderr.on('data', (part: Buffer) => output.add('stderr', part.toString()));
  child.stdin.on('error', () => undefined);
  if (how.stdin !== undefined) child.stdin.end(how.stdin);
  else if (how.columns === undefined) child.stdin.end();
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve(output.end(code))));
  return { child, ended, printed: (pattern) => output.printed(pattern) };
}

/** Runs the command in a separate process to completion. */
export const doorwardProcess = async (args: readonly string[], how: How = {}): Promise<Ended> =>
  (await startDoorwardProcess(args, how)).ended;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const terminalCommand = (main: string, args: readonly string[], columns: number): string =>
  [`stty cols ${columns}`, ['exec', ...[process.execPath, main, ...args].map(quoted)].join(' ')].join('; ');
