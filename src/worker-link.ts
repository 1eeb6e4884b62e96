import { isMessage, PLACE, type Message } from './workers.ts';

/** What a worker has to do with the process that started it. */
export interface WorkerLink {
  /** From 1; the same for whoever replaces it. */
  readonly place: number;
  /** Resolves when this worker is to stop: all are, or somebody sent a signal to this one alone. */
  readonly stopped: Promise<void>;
  /** Makes figures of this worker known to the others, and answers those of all, of each with its place. */
  readonly gather: (own: () => Promise<string>) => () => Promise<string>;
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
    gather(own) {
      let questions = 0;
      const open = new Map<number, (texts: readonly string[]) => void>();
      on((message) => {
        if (message.doorward === 'answer') open.get(message.question)?.(message.texts);
        if (message.doorward !== 'collect') return;
        own().then(
          (text) => say({ doorward: 'collected', question: message.question, text: ofWorker(text, place) }),
          () => undefined,
        );
      });
      return async () => {
        const question = ++questions;
        const texts = await new Promise<readonly string[]>((resolve) => {
          open.set(question, resolve);
          say({ doorward: 'ask', question });
        });
        open.delete(question);
        return merged(texts);
      };
    },
  };
}

/** The label `worker` on every sample, by which a collector can add up or tell apart. */
export const ofWorker = (text: string, place: number): string =>
  text.replace(
    /^([a-z_]+)(?:\{(.*)\})? (\S+)$/gm,
    (_, name: string, labels: string | undefined, value: string) => {
      const all = [`worker="${place}"`, ...(labels ? [labels] : [])].join();
      return `${name}{${all}} ${value}`;
    },
  );

/** Samples of one metric stand together below its head, as the format wants it. */
export function merged(texts: readonly string[]): string {
  const metrics = new Map<string, { head: string[]; samples: string[] }>();
  for (const text of texts) {
    let current = { head: [] as string[], samples: [] as string[] };
    for (const line of text.split('\n')) {
      const name = /^# HELP (\S+)/.exec(line)?.[1];
      if (name !== undefined) {
        current = metrics.get(name) ?? { head: [line], samples: [] };
        metrics.set(name, current);
      } else if (line.startsWith('#')) current.head[1] = line;
      else if (line !== '') current.samples.push(line);
    }
  }
  return [...metrics.values()].map(({ head, samples }) => [...head, ...samples, ''].join('\n')).join('');
}
