import cluster, { type Worker } from 'node:cluster';
import type { Log } from './log.ts';

interface WorkersOptions {
  readonly count: number;
  readonly graceSeconds: number;
  readonly log: Log;
  /** Called once, when all workers listen. */
  readonly ready: (port: number) => void;
}

/** The messages between the first process and its workers. */
export type Message =
  | { readonly doorward: 'stop' }
  /** Sent to worker 1 once, when all workers listen and `ready` was called. */
  | { readonly doorward: 'started' }
  | { readonly doorward: 'ask'; readonly question: number }
  | { readonly doorward: 'collect'; readonly question: number }
  | { readonly doorward: 'collected'; readonly question: number; readonly answer: unknown }
  | { readonly doorward: 'answer'; readonly question: number; readonly answers: readonly unknown[] };

/** The environment variable with the number of a worker. */
export const WORKER_NUMBER_VARIABLE = 'DOORWARD_WORKER';

const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
/** A worker that ran for this long counts as stable: the pause before its replacement is the shortest again. */
const STABLE_MS = 60_000;
/** Time after the grace period of the workers until they are killed. */
const KILL_MARGIN_MS = 2000;
const FORCED_EXIT_CODE = 1;

/** Whether a value is a message between the first process and a worker. */
export function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && 'doorward' in value;
}

/**
 * WORKERS=n: the first process owns the port and distributes connections to n workers, each of which is a complete
 * service. Workers share the database but no memory (docs/decisions/0020-workers.md).
 *
 * Worker 1 starts alone and migrates the database. If a worker fails before all of them listen, the service stops. A
 * worker that ends later is replaced, after a pause that doubles as long as it keeps ending. A stop is forwarded to all
 * workers and waits for them. The process exits with 0 after a stop in which every worker exited with 0, otherwise with
 * 1.
 */
export function runWorkers({ count, graceSeconds, log, ready }: WorkersOptions): void {
  const workers = new Map<number, Worker>();
  const pauses = new Map<number, number>();
  /**
   * Running collections by their numbers. This process assigns the numbers, because each worker numbers its questions
   * from 1.
   */
  const collections = new Map<
    number,
    { readonly answers: Map<number, unknown>; readonly done: () => void }
  >();
  const isComplete = (answers: ReadonlyMap<number, unknown>) =>
    [...workers.keys()].every((item) => answers.has(item));
  let questions = 0;
  let started = false;
  let stopping = false;
  let code = 0;

  function fork(number: number): void {
    // Only the first start of worker 1 has to migrate.
    const env = {
      [WORKER_NUMBER_VARIABLE]: String(number),
      ...(started || number > 1 ? { MIGRATE_ON_START: 'false' } : {}),
    };
    const worker = cluster.fork(env);
    const began = performance.now();
    workers.set(number, worker);
    worker.once('listening', ({ port }) => {
      if (started || stopping) return;
      if (number < count) return fork(number + 1);
      started = true;
      ready(port);
      const first = workers.get(1);
      if (first) send(first, { doorward: 'started' });
    });
    worker.on('message', (message: unknown) => isMessage(message) && onMessage(number, worker, message));
    worker.once('exit', (exitCode, signal) => onEnd(signal ?? exitCode));
    worker.on('error', (error: NodeJS.ErrnoException) => {
      log.error({
        error,
        message: 'a worker could not be started, or a message not be sent',
        worker: number,
      });
      // A worker that the system could not start emits no `exit`.
      if (worker.process.pid === undefined) onEnd(error.code ?? error.name);
    });

    function onEnd(reason: string | number): void {
      workers.delete(number);
      for (const { answers, done } of collections.values()) if (isComplete(answers)) done();
      if (stopping) {
        code ||= reason === 0 ? 0 : 1;
        if (workers.size === 0) end();
        return;
      }
      if (!started) return stop(1);
      const wasStable = performance.now() - began > STABLE_MS;
      const pause = wasStable ? MIN_PAUSE_MS : (pauses.get(number) ?? MIN_PAUSE_MS);
      pauses.set(number, Math.min(MAX_PAUSE_MS, pause * 2));
      log.error({ message: 'a worker ended and is replaced', worker: number, ended: reason, pauseMs: pause });
      setTimeout(() => !stopping && fork(number), pause);
    }
  }

  function stop(exitCode: number): void {
    if (stopping) return;
    stopping = true;
    code = exitCode;
    if (workers.size === 0) return end();
    for (const worker of workers.values()) send(worker, { doorward: 'stop' });
    setTimeout(() => kill(), graceSeconds * 1000 + KILL_MARGIN_MS).unref();
  }

  /** Exits after the log is written. */
  function end(): void {
    log.flush(() => process.exit(code));
  }

  function kill(): never {
    for (const worker of workers.values()) worker.process.kill('SIGKILL');
    process.exit(FORCED_EXIT_CODE);
  }

  /**
   * Collects the values of all workers for the worker that requests them. A worker that does not respond in time is
   * omitted.
   */
  function onMessage(number: number, worker: Worker, message: Message): void {
    if (message.doorward === 'collected') {
      const open = collections.get(message.question);
      open?.answers.set(number, message.answer);
      if (open && isComplete(open.answers)) open.done();
    }
    if (message.doorward !== 'ask') return;
    const question = ++questions;
    const answers = new Map<number, unknown>();
    const done = (): void => {
      clearTimeout(timer);
      if (!collections.delete(question)) return;
      const ordered = [...answers].sort(([a], [b]) => a - b).map(([, answer]) => answer);
      send(worker, { doorward: 'answer', question: message.question, answers: ordered });
    };
    const timer = setTimeout(done, COLLECT_TIMEOUT_MS);
    collections.set(question, { answers, done });
    for (const each of workers.values()) send(each, { doorward: 'collect', question });
  }

  const onSignal = (): void => (stopping ? kill() : stop(0));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, onSignal);
  fork(1);
}

const COLLECT_TIMEOUT_MS = 1000;

/** Sends a message to a worker. A worker that is shutting down no longer receives messages. */
function send(worker: Worker, message: Message): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}
