import { sql, type SQL } from 'drizzle-orm';
import { deferToCommit } from '../db/deferred.ts';
import { rowsOf } from '../db/rows.ts';
import type { Call, Principal } from '../kernel/context.ts';
import type { Actor, NodeRef, Recording } from '../kernel/event.ts';
import type { MutationNotes, Recorded } from '../kernel/stages.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import type { Ids } from '../kernel/ports.ts';
import { nodeRef, unknownScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { append, type AuditRow, type Composed, type EventRow, type Head } from './append.ts';
import { sealEntry, type ChainEntry } from './audit-chain.ts';
import { assertSameCaller } from './caller-changed.ts';
import { lockCounters, type Counters } from './counters.ts';
import { cutToSize } from './cut-to-size.ts';
import type { Relay } from './relay.ts';

/** Of the operation, or of a job that is none. */
export type Act = Pick<NamedOperation, 'name' | 'keepsRights' | 'sharesCommit'>;
/** A job has no address. */
export type Author = Pick<Recorded, 'scope' | 'principal' | 'caller'> & {
  readonly call: Pick<Call, 'userAgent' | 'requestId'> & { readonly address: string | null };
};
/** What is known of types of events. */
export interface EventForms {
  /** What an event tells of what was recorded: its public part. @throws Error for a type that nobody declared */
  readonly data: (type: string, data: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** Whether a member of that data is never cut. */
  readonly isWhole: (type: string, member: string) => boolean;
}
export type Recorder = (tx: Executor, acts: readonly Written[], announced?: Announced) => Promise<void>;
/** What one statement of the transaction has to say beside what it writes, or one of its own if nothing is written. */
export interface Announced {
  readonly columns: SQL;
  /** With the number of the transaction, when it was said. */
  readonly heard: (transaction: number) => void;
}
/** One mutation, as it is to be written. */
export interface Written {
  readonly op: Act;
  readonly by: Author;
  readonly notes: MutationNotes;
}

/**
 * Writes what a mutation leaves behind, in its own transaction: one audit entry, its events, and the next
 * version of the tenant's policy. The node's row is locked last and until commit, which makes the sequences
 * gapless and their order the order of commits.
 *
 * The same lock orders a mutation and the deletion of its node (`deleteNode`, which marks nodes before it looks for
 * their rows): either the deletion comes second and finds the rows, or the mutation does and is refused here.
 *
 * Events that the relay takes are due at once: it is told after commit, and looks for itself from time to time. Whether
 * it takes them is asked under the lock, so that whoever began to want them before is not passed over.
 * Mutations that share a commit are written together: two statements for all of them, or for a thousand lines.
 *
 * @throws FORBIDDEN, as for a scope that never existed, when the node was deleted while the mutation ran
 */
export function createRecorder(ids: Ids, relay: Pick<Relay, 'due' | 'flush'>, forms: EventForms): Recorder {
  /** What there is to write, numbered and sealed from where the nodes' counters are. */
  function compose(pages: readonly Page[], counted: ReadonlyMap<string, Counters>): Composed {
    const entries: AuditRow[] = [];
    const emitted: EventRow[] = [];
    const heads: Head[] = [];
    for (const { node, lines, policy } of pages) {
      const before = counted.get(node.id);
      if (!before) throw new Error(`no tenant node ${node.id}`);
      if (before.deleted && lines.some(({ recording }) => needsLiveNode(recording))) throw unknownScope();
      const { now } = before;
      let { eventSequence, auditSequence, hash } = before;
      for (const { act, recording, audited } of lines) {
        const { event, data = {} } = recording;
        if (event !== undefined) {
          const told = { ...recording, data: forms.data(event, data) };
          const row = eventRow(ids.next(), act.by, node, told, ++eventSequence, now);
          const body = cutToSize(row.body, (member) => forms.isWhole(event, member));
          emitted.push({ ...row, body });
        }
        if (!audited) continue;
        const entry = auditEntry(ids.next(), act.op, act.by, node, recording, ++auditSequence, now);
        const sealing = sealEntry(entry, hash);
        ({ hash } = sealing);
        const outcome = recording.outcome ?? 'success';
        entries.push({ ...entry, ...sealing, outcome, tenantId: node.id, occurredAt: now });
      }
      heads.push({ id: node.id, policy, auditSequence, eventSequence, hash });
    }
    return { entries, emitted, heads };
  }

  async function writePages(tx: Executor, pages: readonly Page[], announced?: Announced): Promise<void> {
    const nodes = pages.map(({ node }) => node.id);
    const counted = await lockCounters(tx, nodes);
    for (const { lines } of pages) for (const { act } of lines) assertSameCaller(act.by);
    const composed = compose(pages, counted);
    const appended = append(tx, composed, relay.due, announced?.columns).then(({ transaction, due }) => {
      announced?.heard(Number(transaction));
      if (due) pages[0]?.lines[0]?.act.notes.afterCommit.push(() => void relay.flush());
    });
    // Others wait for the nodes' locks: the commit goes out with this, and not a round trip later.
    await deferToCommit(tx, appended);
  }

  return async (tx, acts, announced) => {
    const [first, ...others] = sheets(pagesOf(acts));
    if (first) await writePages(tx, first, announced);
    else if (announced) await deferToCommit(tx, say(tx, announced));
    for (const pages of others) await writePages(tx, pages);
  };
}

async function say(tx: Executor, { columns, heard }: Announced): Promise<void> {
  const [row] = await rowsOf<{ transaction: string }>(tx, sql`select ${columns}`);
  heard(Number(row?.transaction));
}

/** What is to be written of one node, in order. A mutation has one audit entry: of its first recording. */
interface Page {
  readonly node: NodeRef;
  readonly lines: { readonly act: Written; readonly recording: Recording; readonly audited: boolean }[];
  /** By how much the version of its policy rises. */
  policy: number;
}

/** Whatever a tenant's mutation changed, cached rights of that tenant are stale: nobody has to remember it. */
export function noteStaleRights(op: Act, { scope }: Author, { recordings, topics }: MutationNotes): void {
  if (op.keepsRights) return;
  if (scope) topics.add(`node:${scope.nodeId}`);
  for (const { node } of recordings) if (node) topics.add(`node:${node.id}`);
}

/** Pages in a fixed order of nodes, so that two transactions cannot deadlock. */
function pagesOf(acts: readonly Written[]): Page[] {
  const pages = new Map<string, Page>();
  for (const act of acts) {
    const { op, by, notes } = act;
    const fallback = by.scope && { id: by.scope.nodeId, scope: nodeRef(by.scope) };
    const touched = new Set<string>(fallback ? [fallback.id] : []);
    for (const recording of notes.recordings) {
      const node = recording.node ?? fallback;
      if (!node) continue;
      const page: Page = pages.get(node.id) ?? { node, lines: [], policy: 0 };
      pages.set(node.id, page);
      page.lines.push({ act, recording, audited: recording === notes.recordings[0] });
      touched.add(node.id);
    }
    if (op.keepsRights) continue;
    for (const id of touched) {
      const page = pages.get(id);
      if (page) page.policy++;
    }
  }
  return [...pages.values()].sort((a, b) => (a.node.id < b.node.id ? -1 : 1));
}

/** As much as two statements can take: PostgreSQL counts parameters in 16 bits. What ends an app may end many sessions. */
const LINES = 1000;

/** The same pages in the same order, so that locks are still taken in it. */
function sheets(pages: readonly Page[]): Page[][] {
  const found: Page[][] = [];
  let room = 0;
  for (const page of pages) {
    room -= page.lines.length;
    if (room < 0) {
      found.push([]);
      room = LINES - page.lines.length;
    }
    found.at(-1)?.push(page);
  }
  return found;
}

/** A refusal has changed nothing, and what is said of a deletion is said after it. */
const needsLiveNode = ({ node, outcome = 'success' }: Recording): boolean =>
  outcome === 'success' && !node?.evenDeleted;

/** The envelope of events §2, as it is stored and later delivered. */
function eventRow(
  id: string,
  { principal, call }: Author,
  node: NodeRef,
  recording: Recording,
  sequence: number,
  occurredAt: Date,
) {
  const { event = '', data = {}, changes, actor = actorOf(principal) } = recording;
  const body = {
    id: `evt_${id}`,
    type: event,
    version: 1,
    timestamp: occurredAt.toISOString(),
    sequence,
    scope: node.scope,
    actor: { type: actor.type, id: actor.id, userId: actor.userId },
    requestId: call.requestId,
    data,
    ...(changes && Object.keys(changes).length > 0 ? { changes } : {}),
  };
  return { id, tenantId: node.id, sequence, type: event, occurredAt, body };
}

export function actorOf(principal: Principal | null): Actor {
  if (!principal) return { type: 'anonymous', id: null, userId: null, name: null };
  const { type, userId, credentialId, name } = principal;
  if (type === 'session') return { type: 'user', id: userId, userId, name };
  return { type: type === 'ApiKey' ? 'apiKey' : 'projectApp', id: credentialId, userId, name };
}

function auditEntry(
  id: string,
  op: Act,
  { principal, call }: Author,
  node: NodeRef,
  recording: Recording,
  sequence: number,
  occurredAt: Date,
): ChainEntry {
  return {
    id,
    sequence,
    occurredAt: occurredAt.toISOString(),
    scope: node.scope,
    operation: op.name,
    event: recording.event ?? null,
    outcome: recording.outcome ?? 'success',
    code: recording.code ?? null,
    reason: recording.reason ?? null,
    actor: { ...(recording.actor ?? actorOf(principal)) },
    target: recording.target ?? null,
    changes: recording.changes ?? null,
    metadata: recording.metadata ?? {},
    ipAddress: call.address,
    userAgent: call.userAgent,
    requestId: call.requestId,
  };
}
