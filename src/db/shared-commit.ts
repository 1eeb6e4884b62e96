import { sql } from 'drizzle-orm';
import type { Executor } from '../kernel/scoped-db.ts';
import { deferToCommit, type Transaction } from './deferred.ts';
import { wasTakenBack } from './pg-error.ts';

/**
 * Group commit: works that come in while a transaction is under way share the next one, and each is answered after its
 * commit. A database that flushes once for fifty of them does in a second what it else does in a minute.
 *
 * Inside, the works go in step: they speak to the database through `together` alone, and what all of them are about to
 * ask becomes one statement. If one of them fails, none of it has happened, and each is run in a transaction of its
 * own: nobody pays for another's failure.
 */
interface Waiting {
  readonly work: (tx: Executor) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Statements grow with it, and so does what one failure makes run again. */
const AT_MOST = 64;
/** A row that somebody else holds must not hold up the works that have nothing to do with it. */
const LOCK_TIMEOUT = '250ms';

export function createSharedTransaction(transaction: Transaction): Transaction {
  const waiting: Waiting[] = [];
  let running = false;

  /** Takes what came in meanwhile, until nothing did. */
  async function run(): Promise<void> {
    if (running) return;
    running = true;
    while (waiting.length > 0) await commit(waiting.splice(0, AT_MOST));
    running = false;
  }

  const alone = ({ work, resolve, reject }: Waiting): Promise<void> =>
    transaction(work).then(resolve, reject);

  async function commit(works: readonly Waiting[]): Promise<void> {
    const [first] = works;
    if (first && works.length === 1) return alone(first);
    let answers: readonly unknown[] = [];
    let done = false;
    try {
      await transaction(async (tx) => {
        done = false;
        await deferToCommit(tx, tx.execute(sql.raw(`set local lock_timeout = '${LOCK_TIMEOUT}'`)));
        answers = await inStep(tx, works);
        done = true;
      });
      works.forEach(({ resolve }, index) => resolve(answers[index]));
    } catch (error) {
      // Only the commit was left: it may have happened, so that to run them again would do all of it twice. Unless what
      // was left to the end was refused, and the commit with it.
      if (done && !wasTakenBack(error)) works.forEach(({ reject }) => reject(error));
      else await Promise.all(works.map(alone));
    }
  }

  return <T>(work: (tx: Executor) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
      void run();
    });
}

/** Ends when the last of them has, whatever became of the others: none may use the transaction after its end. */
async function inStep(tx: Executor, works: readonly Waiting[]): Promise<unknown[]> {
  const step = createStep(tx, works.length);
  steps.set(tx, step);
  const ended = await Promise.allSettled(works.map(({ work }) => work(tx).finally(step.leave)));
  return ended.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

/** Asks once for all; answers in the order of the items. */
export type Ask<I, O> = (tx: Executor, items: readonly I[]) => Promise<readonly O[]>;

/**
 * Asks for this item together with the works of the same transaction that come to the same `ask`; in a transaction of
 * one work, at once.
 */
export async function together<I, O>(tx: Executor, ask: Ask<I, O>, item: I): Promise<O> {
  const step = steps.get(tx);
  if (step) return step.join(ask, item);
  const [answer] = await ask(tx, [item]);
  return answer as O;
}

/** What only few of them will ask: one statement for each. */
export const inTurn =
  <I, O>(ask: (tx: Executor, item: I) => Promise<O>): Ask<I, O> =>
  async (tx, items) => {
    const answers: O[] = [];
    for (const item of items) answers.push(await ask(tx, item));
    return answers;
  };

interface Joined {
  readonly item: unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

interface Step {
  readonly join: <I, O>(ask: Ask<I, O>, item: I) => Promise<O>;
  readonly leave: () => void;
}

const steps = new WeakMap<Executor, Step>();

/** Nobody goes on before everybody has come: the works are few, and each comes here soon or ends. */
function createStep(tx: Executor, works: number): Step {
  const gathered = new Map<Ask<never, unknown>, Joined[]>();
  let present = 0;
  let left = works;
  /** One statement after the other: it is one connection. */
  let asked = Promise.resolve();

  function go(): void {
    if (present === 0 || present < left) return;
    const groups = [...gathered];
    gathered.clear();
    present = 0;
    for (const [ask, joined] of groups) asked = asked.then(() => put(ask, joined));
  }

  /** Never rejects. */
  function put(ask: Ask<never, unknown>, joined: readonly Joined[]): Promise<void> {
    return ask(tx, joined.map(({ item }) => item) as never[]).then(
      (answers) => joined.forEach(({ resolve }, index) => resolve(answers[index] as never)),
      (error: unknown) => joined.forEach(({ reject }) => reject(error)),
    );
  }

  return {
    join: <I, O>(ask: Ask<I, O>, item: I) =>
      new Promise<O>((resolve, reject) => {
        const joined = gathered.get(ask) ?? [];
        joined.push({ item, resolve, reject });
        gathered.set(ask, joined);
        present++;
        go();
      }),
    leave() {
      left--;
      go();
    },
  };
}
