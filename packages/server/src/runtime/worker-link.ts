import { isMessage, WORKER_NUMBER_VARIABLE, type Message } from './workers.ts';

/** The connection of a worker to the process that started it. */
export interface WorkerLink {
  /** Number of the worker, from 1. The replacement of a worker gets the same number. */
  readonly number: number;
  /** Resolves when all workers listen for the first time, but only in the first process that is worker 1. */
  readonly started: Promise<void>;
  /** Resolves when this worker must stop: because all workers stop, or because it got SIGTERM. */
  readonly stopped: Promise<void>;
  /**
   * Registers `own`, which returns this worker's JSON value. Returns a function that collects the values of all
   * workers, ordered by worker number, without those that do not respond in time.
   */
  readonly gather: <T>(own: () => Promise<T>) => () => Promise<readonly T[]>;
}

/** Returns the link of a worker; null in a process that is not a worker. */
export function workerLink(env: Readonly<Record<string, string | undefined>>): WorkerLink | null {
  const number = Number(env[WORKER_NUMBER_VARIABLE]);
  if (!Number.isInteger(number) || number < 1 || !process.send) return null;
  const send = (message: Message): void => void process.send?.(message);
  const onMessage = (listener: (message: Message) => void): void =>
    void process.on('message', (message: unknown) => isMessage(message) && listener(message));
  const started = new Promise<void>((resolve) => {
    onMessage(({ doorward }) => doorward === 'started' && resolve());
  });
  const stopped = new Promise<void>((resolve) => {
    onMessage(({ doorward }) => doorward === 'stop' && resolve());
    // Service managers send the signal to every process, so it may arrive in addition to the message.
    process.on('SIGTERM', () => resolve());
    // A terminal sends these signals to all processes. The first process handles them and sends `stop`, so workers
    // ignore them.
    process.on('SIGINT', () => undefined);
    process.on('SIGHUP', () => undefined);
    process.on('SIGQUIT', () => undefined);
  });
  return {
    number,
    started,
    stopped,
    gather<T>(own: () => Promise<T>) {
      let questions = 0;
      const pending = new Map<number, (answers: readonly unknown[]) => void>();
      onMessage((message) => {
        if (message.doorward === 'answer') pending.get(message.question)?.(message.answers);
        if (message.doorward !== 'collect') return;
        own().then(
          (answer) => send({ doorward: 'collected', question: message.question, answer }),
          () => undefined,
        );
      });
      return async () => {
        const question = ++questions;
        const answers = await new Promise<readonly unknown[]>((resolve) => {
          pending.set(question, resolve);
          send({ doorward: 'ask', question });
        });
        pending.delete(question);
        return answers as readonly T[];
      };
    },
  };
}
