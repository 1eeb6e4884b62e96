import type { Writable } from 'node:stream';
import type pg from 'pg';
import type { Executor } from '../kernel/scoped-db.ts';
import type { Database } from './open.ts';

/**
 * Statements that are sent before the one ahead of them is answered (decision 0025). Each answer that a transaction
 * waits for costs it a turn of the event loop, which under load is long, and at its end the locks of a tenant are held
 * that long. On PostgreSQL only: the embedded database answers at once, and is waited for.
 */
type Transaction = Database['transaction'];

/** Of the transactions that wait at their end: what was left to it. */
const ends = new WeakMap<Executor, Promise<unknown>[]>();

/**
 * Goes on without the answer where the transaction waits for it at its end: whoever comes next does not need it. A
 * statement that fails takes all that comes after it along, so nothing is committed without it, and the failure that
 * the transaction tells is this one.
 */
export async function leaveToEnd(tx: Executor, answer: Promise<unknown>): Promise<void> {
  const left = ends.get(tx);
  if (!left) return void (await answer);
  // A statement of the query builder is sent by whoever asks for its answer, and again by whoever asks next.
  const sent = answer.then((it) => it);
  // It is heard of at the end; until then nobody listens.
  sent.catch(() => undefined);
  left.push(sent);
}

/** Transactions whose commit is sent behind what was left to their end. */
export const waitingAtEnd =
  (transaction: Transaction): Transaction =>
  async (work) => {
    const left: Promise<unknown>[] = [];
    try {
      const out = await transaction((tx) => {
        ends.set(tx, left);
        return work(tx);
      });
      // PostgreSQL answers the commit of what has failed with a rollback, and calls it none.
      await Promise.all(left);
      return out;
    } catch (error) {
      const failed = (await Promise.allSettled(left)).find(({ status }) => status === 'rejected');
      // What came after the first failure was refused for that reason alone.
      throw failed?.status === 'rejected' ? failed.reason : error;
    }
  };

/** What leaves nothing behind where no transaction began, or not in the name in which it was to run. */
export const leavesNothing = (text: string): boolean => /^\s*(set local|select) /.test(text);

type Query = (...statement: readonly unknown[]) => Promise<unknown>;

/**
 * From now on `begin` is sent along with the statement behind it; whoever asked for it is told at once that it began, and
 * of a failure by that statement. Only what would do no harm if `begin` failed is sent before it was answered, and a
 * connection on which it fails is ended: nothing is written outside of the transaction that it belongs to.
 */
export function sendBeginAlong(client: pg.ClientBase): void {
  const query = client.query.bind(client) as Query;
  let held: readonly unknown[] | null = null;
  /** Until the `begin` that was sent is answered. */
  let opening: Promise<unknown> | null = null;
  /** What waits for that, and whatever comes after it. */
  const behind: (() => void)[] = [];

  function open(begin: readonly unknown[]): Promise<unknown> {
    held = null;
    const goOn = (): void => {
      opening = null;
      for (const send of behind.splice(0)) send();
    };
    const begun = query(...begin);
    begun.then(goOn, () => {
      streamOf(client).destroy();
      goOn();
    });
    return begun;
  }

  const ahead = (...statement: readonly unknown[]): Promise<unknown> => {
    const text = textOf(statement);
    if (text === 'begin') {
      held = statement;
      return Promise.resolve(BEGUN);
    }
    if (held) opening = open(held);
    if (!opening) return query(...statement);
    if (behind.length === 0 && leavesNothing(text))
      return Promise.all([opening, query(...statement)]).then(([, answer]) => answer);
    return new Promise((resolve, reject) => {
      behind.push(() => void query(...statement).then(resolve, reject));
    });
  };
  client.query = ahead as typeof client.query;
}

const BEGUN = { command: 'BEGIN', rowCount: null, oid: null, fields: [], rows: [] };

const textOf = ([statement]: readonly unknown[]): string =>
  typeof statement === 'string' ? statement : ((statement as { readonly text?: string } | null)?.text ?? '');

/** Another one from the moment on at which the connection is encrypted. */
const streamOf = (client: pg.ClientBase): Writable =>
  (client as unknown as { readonly connection: { readonly stream: Writable } }).connection.stream;

/**
 * From now on what is asked of the connection before anything else is waited for leaves in one piece: to wake the
 * server for each statement costs both sides more than most of the statements.
 */
export function sendInOnePiece(client: pg.ClientBase): void {
  const query = client.query.bind(client) as Query;
  let gathering = false;
  const gathered = (...statement: readonly unknown[]): Promise<unknown> => {
    if (!gathering) {
      gathering = true;
      const stream = streamOf(client);
      stream.cork();
      // Runs when no promise is left that goes on without waiting.
      process.nextTick(() => {
        gathering = false;
        stream.uncork();
      });
    }
    return query(...statement);
  };
  client.query = gathered as typeof client.query;
}
