import { randomBytes } from 'node:crypto';

/**
 * How long whoever comes now has to wait, measured by standing in line oneself: for the event loop with a timer, for a
 * thread and for a connection to the database with a piece of work that is as good as none. Of the event loop what most
 * of a few looks saw counts: one pause of the collector is no overload.
 */
const TICK_MS = 10;
const FEWEST_LOOKS = 3;
const MEASURED_MS = 50;

export interface Waits {
  /** Milliseconds by which the event loop is late. */
  readonly loop: () => number;
  /** Milliseconds until a thread, a connection or one's turn in a line is free, whichever is longest. */
  readonly work: () => number;
  readonly stop: () => void;
}

interface WaitOptions {
  /** Whether somebody may be waiting for work to be done; nothing is asked of anybody otherwise. */
  readonly isBusy: () => boolean;
  /** As little as can be asked of the database. */
  readonly askDatabase: () => Promise<unknown>;
  /** Of a line in which others stand, what the next of them has waited. */
  readonly lineMs: () => number;
  /** Called about every 50 milliseconds, later when the event loop is late. */
  readonly measured: () => void;
}

export function startWaits({ isBusy, askDatabase, lineMs, measured }: WaitOptions): Waits {
  const late: number[] = [];
  const lines = [createLine(askDatabase), createLine(askThread)];
  let loop = 0;
  let since = performance.now();
  let due = since + TICK_MS;
  const tick = (): void => {
    const now = performance.now();
    late.push(Math.max(0, now - due));
    if (late.length >= FEWEST_LOOKS && now - since >= MEASURED_MS) {
      loop = late.sort((a, b) => a - b)[late.length >> 1] ?? 0;
      late.length = 0;
      since = now;
      const busy = isBusy();
      for (const line of lines) line.look(busy);
      measured();
    }
    due = performance.now() + TICK_MS;
    timer.refresh();
  };
  const timer = setTimeout(tick, TICK_MS).unref();
  return {
    loop: () => loop,
    work: () => Math.max(lineMs(), ...lines.map((line) => line.wait())),
    stop: () => clearTimeout(timer),
  };
}

/** The last wait, or how long the present one has lasted when that is longer. */
function createLine(ask: () => Promise<unknown>) {
  let asked: number | undefined;
  let last = 0;
  return {
    wait: () => Math.max(last, asked === undefined ? 0 : performance.now() - asked),
    look(busy: boolean): void {
      if (asked !== undefined) return;
      if (!busy) {
        last = 0;
        return;
      }
      const began = performance.now();
      asked = began;
      // A database that is gone refuses at once: that is no line to stand in.
      const answered = (): void => {
        last = performance.now() - began;
        asked = undefined;
      };
      ask().then(answered, answered);
    },
  };
}

const askThread = (): Promise<void> => new Promise((resolve) => randomBytes(1, () => resolve()));
