import cluster, { type Worker } from 'node:cluster';
import type { Log } from './log.ts';

/**
 * WORKERS=n: one process holds the port and hands connections round to n others, each a whole service. They share what
 * several processes share anywhere, the database, and nothing else (docs/decisions/0020-workers.md).
 *
 * The first is started alone: it migrates, and what keeps it from starting stops everything. One that dies later is
 * replaced, after a pause that doubles while it keeps dying. A stop is passed on, and waits for all of them.
 */
export interface WorkersOptions {
  readonly count: number;
  readonly graceSeconds: number;
  readonly log: Log;
  /** All of them listen, for the first time. */
  readonly ready: (port: number) => void;
}

/** What goes between the processes. A worker is named by its place, which its successor takes over. */
export type Message =
  | { readonly doorward: 'stop' }
  | { readonly doorward: 'ask'; readonly question: number }
  | { readonly doorward: 'collect'; readonly question: number }
  | { readonly doorward: 'collected'; readonly question: number; readonly answer: unknown }
  | { readonly doorward: 'answer'; readonly question: number; readonly answers: readonly unknown[] };

export const PLACE = 'DOORWARD_WORKER';

const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** Whoever has served for so long did not die of its start. */
const STEADY_MS = 60_000;
/** Beyond their own time for stopping. */
const MARGIN_MS = 2000;
const FORCED = 1;

export function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && 'doorward' in value;
}

/** Ends the process by itself: with 0 after a stop in which every worker ended with 0, else with 1. */
export function runWorkers({ count, graceSeconds, log, ready }: WorkersOptions): void {
  const living = new Map<number, Worker>();
  const pauses = new Map<number, number>();
  /** By numbers of this process: a worker counts its own questions, and its successor from the start again. */
  const collecting = new Map<number, { readonly answers: Map<number, unknown>; readonly done: () => void }>();
  const isComplete = (answers: ReadonlyMap<number, unknown>) =>
    [...living.keys()].every((one) => answers.has(one));
  let questions = 0;
  let started = false;
  let stopping = false;
  let code = 0;

  function fork(place: number): void {
    // Whoever is not the first finds the database migrated.
    const env = { [PLACE]: String(place), ...(started || place > 1 ? { MIGRATE_ON_START: 'false' } : {}) };
    const worker = cluster.fork(env);
    const began = performance.now();
    living.set(place, worker);
    worker.once('listening', ({ port }) => {
      if (started || stopping) return;
      if (place < count) return fork(place + 1);
      started = true;
      ready(port);
    });
    worker.on('message', (message: unknown) => isMessage(message) && heard(place, worker, message));
    worker.once('exit', (exitCode, signal) => ended(signal ?? exitCode));
    worker.on('error', (error: NodeJS.ErrnoException) => {
      log.error({ error, message: 'a worker could not be started, or not be told something', worker: place });
      // Of one that the system did not even start no exit is told.
      if (worker.process.pid === undefined) ended(error.code ?? error.name);
    });

    function ended(how: string | number): void {
      living.delete(place);
      for (const { answers, done } of collecting.values()) if (isComplete(answers)) done();
      if (stopping) {
        code ||= how === 0 ? 0 : 1;
        if (living.size === 0) end();
        return;
      }
      if (!started) return stop(1);
      const steady = performance.now() - began > STEADY_MS;
      const pause = steady ? SHORTEST_PAUSE_MS : (pauses.get(place) ?? SHORTEST_PAUSE_MS);
      pauses.set(place, Math.min(LONGEST_PAUSE_MS, pause * 2));
      log.error({ message: 'a worker ended and is replaced', worker: place, ended: how, pauseMs: pause });
      setTimeout(() => !stopping && fork(place), pause);
    }
  }

  function stop(withCode: number): void {
    if (stopping) return;
    stopping = true;
    code = withCode;
    if (living.size === 0) return end();
    for (const worker of living.values()) tell(worker, { doorward: 'stop' });
    setTimeout(() => kill(), graceSeconds * 1000 + MARGIN_MS).unref();
  }

  /** With what was logged out: a process that exits at once may lose what is on its way. */
  function end(): void {
    log.flush(() => process.exit(code));
  }

  function kill(): never {
    for (const worker of living.values()) worker.process.kill('SIGKILL');
    process.exit(FORCED);
  }

  /** One worker was asked for what all of them know: it is collected, and whoever does not say it in time is left out. */
  function heard(place: number, worker: Worker, message: Message): void {
    if (message.doorward === 'collected') {
      const open = collecting.get(message.question);
      open?.answers.set(place, message.answer);
      if (open && isComplete(open.answers)) open.done();
    }
    if (message.doorward !== 'ask') return;
    const question = ++questions;
    const answers = new Map<number, unknown>();
    const done = (): void => {
      clearTimeout(timer);
      if (!collecting.delete(question)) return;
      const inOrder = [...answers].sort(([a], [b]) => a - b).map(([, answer]) => answer);
      tell(worker, { doorward: 'answer', question: message.question, answers: inOrder });
    };
    const timer = setTimeout(done, PATIENCE_MS);
    collecting.set(question, { answers, done });
    for (const each of living.values()) tell(each, { doorward: 'collect', question });
  }

  const onSignal = (): void => (stopping ? kill() : stop(0));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, onSignal);
  fork(1);
}

const PATIENCE_MS = 1000;

/** One that is just ending hears nothing any more, and needs not. */
function tell(worker: Worker, message: Message): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}
