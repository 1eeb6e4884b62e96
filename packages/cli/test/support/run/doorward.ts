import { PassThrough, Writable } from 'node:stream';
import { main } from '../../../src/cli.ts';
import type { InstalledService } from '../../../src/environment/programs.ts';
import type { Output } from '../../../src/environment/io.ts';
import { environmentOf, type How } from './how.ts';
import { RecordedOutput, type Ended } from './recorded-output.ts';

interface RunningCommand {
  readonly ended: Promise<Ended>;
  readonly printed: RecordedOutput['printed'];
  /** Sends keystrokes, or input through a pipe that stays open. */
  readonly type: (text: string) => void;
  /** Sends Ctrl-C as a signal. */
  readonly interrupt: () => void;
}

/** The service installed alongside the command. Starting it requires a separate process. */
const serviceWith = ({ programs }: How): InstalledService => ({
  programs: async () => programs ?? (await import('../../../../server/src/programs/programs.ts')).programs,
  start: () => Promise.reject(new Error('The service was started in the process of the tests.')),
});

/** Starts the command in this process, with its own streams. */
export function startDoorward(args: readonly string[], how: How = {}): RunningCommand {
  const output = new RecordedOutput();
  const terminal = how.columns === undefined ? {} : { isTTY: true, columns: how.columns };
  const streamTo = (name: 'stdout' | 'stderr'): Output => {
    const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
      output.add(how.columns === undefined ? name : 'stdout', chunk.toString());
      done();
    };
    return Object.assign(new Writable({ write }), terminal);
  };
  const stdin = Object.assign(new PassThrough(), terminal);
  if (how.stdin !== undefined) stdin.end(how.stdin);
  else if (how.columns === undefined) stdin.end();
  const listeners = new Set<() => void>();
  const ended = main(args, {
    ...{ stdin, stdout: streamTo('stdout'), stderr: streamTo('stderr') },
    ...{ env: environmentOf(how), cwd: how.cwd ?? process.cwd() },
    service: serviceWith(how),
    onInterrupt(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  }).then((code) => output.end(code));
  return {
    ended,
    printed: (pattern) => output.printed(pattern),
    type: (text) => void stdin.write(text),
    interrupt: () => listeners.forEach((listener) => listener()),
  };
}

/** Runs the command to completion. */
export const doorward = (args: readonly string[], how: How = {}): Promise<Ended> =>
  startDoorward(args, how).ended;
