import { isMessage, PLACE, type Message } from './workers.ts';

/** What a worker has to do with the process that started it. */
export interface WorkerLink {
  /** From 1; the same for whoever replaces it. */
  readonly place: number;
  /** Resolves when this worker is to stop: all are, or somebody sent a signal to this one alone. */
  readonly stopped: Promise<void>;
  /** Makes something of this worker known to the others, and answers that of all in the order of their places. It must be JSON. */
  readonly gather: <T>(own: () => Promise<T>) => () => Promise<readonly T[]>;
}

/** Null in a process that stands alone. */
export function workerLink(env: Readonly<Record<string, string | undefined>>): WorkerLink | null {
  const place = Number(env[PLACE]);
  if (!Number.isInteger(place) || place < 1 || !process.send) return null;
  const say = (message: Message): void => void process.send?.(message);
  const on = (hear: (message: Message) => void): void =>
    void process.on('message', (message: unknown) => isMessage(message) && hear(message));
  const stopped = new Promise<void>((resolve) => {
    on(({ doorward }) => doorward === 'stop' && resolve());
    // May come beside the message, and then is the same stop: service managers signal every process.
    process.on('SIGTERM', () => resolve());
    // A terminal signals all of its processes, and the first of them passes the stop on.
    process.on('SIGINT', () => undefined);
    process.on('SIGHUP', () => undefined);
    process.on('SIGQUIT', () => undefined);
  });
  return {
    place,
    stopped,
    gather<T>(own: () => Promise<T>) {
      let questions = 0;
      const open = new Map<number, (answers: readonly unknown[]) => void>();
      on((message) => {
        if (message.doorward === 'answer') open.get(message.question)?.(message.answers);
        if (message.doorward !== 'collect') return;
        own().then(
          (answer) => say({ doorward: 'collected', question: message.question, answer }),
          () => undefined,
        );
      });
      return async () => {
        const question = ++questions;
        const answers = await new Promise<readonly unknown[]>((resolve) => {
          open.set(question, resolve);
          say({ doorward: 'ask', question });
        });
        open.delete(question);
        return answers as readonly T[];
      };
    },
  };
}
