import { sql, type SQL } from 'drizzle-orm';
import { setImmediate as nextTick } from 'node:timers/promises';
import { deferToCommit } from '../db/statements/deferred-results.ts';
import { rowsOf } from '../db/statements/rows.ts';
import type { Call, Principal } from '../kernel/context.ts';
import type { Actor, NodeRef, Recording } from '../kernel/event.ts';
import type { MutationNotes, MutationOrigin } from '../kernel/stages.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import type { Ids } from '../kernel/ports.ts';
import { nodeRef, unknownScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { append, type AuditRow, type Records, type EventRow, type ChainHead } from './audit/append.ts';
import { sealEntry, type ChainEntry } from './audit/audit-chain.ts';
import { assertSameCaller } from './caller-changed.ts';
import { lockChainHeads, type LockedHead } from './audit/chain-heads.ts';
import { cutToSize } from './outbox/cut-to-size.ts';
import type { Relay } from './outbox/relay.ts';

/** The properties of an operation or a job that the recorder needs. */
export type RecordedOperation = Pick<NamedOperation, 'name' | 'permissionChange'>;
/** The caller of an operation, or a job, which has no address. */
export type Author = Pick<MutationOrigin, 'scope' | 'principal' | 'caller'> & {
  readonly call: Pick<Call, 'userAgent' | 'requestId'> & { readonly address: string | null };
};
/** Properties of event types. */
interface EventShapes {
  /** The public part of the recorded data. @throws Error for an undeclared type */
  readonly data: (type: string, data: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** Whether a member of the data is never cut (cut-to-size.ts). */
  readonly isNeverCut: (type: string, member: string) => boolean;
}
/** Records mutations of one transaction: see `createRecorder`. */
export type Recorder = (
  tx: Executor,
  mutations: readonly MutationRecord[],
  announcement?: Announcement,
) => Promise<void>;
/** Columns that one statement of the recorder also selects, or a separate statement if there is nothing to record. */
interface Announcement {
  readonly columns: SQL;
  /** Called with the number of the transaction after that statement. */
  readonly onTransaction: (transaction: number) => void;
}
/** One mutation to record. */
export interface MutationRecord {
  readonly op: RecordedOperation;
  readonly by: Author;
  readonly notes: MutationNotes;
}

/**
 * Records mutations in the transaction of their changes: for each mutation an audit entry, its events and the next
 * policy version of the tenant. The row of the node is locked last and stays locked until the commit, so the sequences
 * are gapless and in commit order.
 *
 * The same lock orders a mutation and the deletion of its node (`deleteNode`, which marks nodes before it looks for
 * their rows): either the deletion comes second and finds the rows, or the mutation comes second and fails here.
 *
 * The relay is notified of due events after the commit, and also polls. Consumers are looked up under the lock, so that
 * a subscription that was committed earlier gets the event. Mutations of a group commit are recorded together, by two
 * statements per thousand recordings.
 *
 * @throws FORBIDDEN when the node was deleted concurrently, the same error as for an unknown scope
 */
export function createRecorder(ids: Ids, relay: Pick<Relay, 'due' | 'flush'>, shapes: EventShapes): Recorder {
  /** Numbers and seals the rows to write, from the counters of the locked nodes. */
  function compose(batches: readonly NodeBatch[], chainHeads: ReadonlyMap<string, LockedHead>): Records {
    const entries: AuditRow[] = [];
    const events: EventRow[] = [];
    const heads: ChainHead[] = [];
    for (const { node, items, policyBumps } of batches) {
      const before = chainHeads.get(node.id);
      if (!before) throw new Error(`no tenant node ${node.id}`);
      if (before.deleted && items.some(({ recording }) => needsLiveNode(recording))) throw unknownScope();
      const { now } = before;
      let { eventSequence, auditSequence, hash } = before;
      for (const { mutation, recording, audited } of items) {
        const { event, data = {} } = recording;
        if (event !== undefined) {
          const publicRecording = { ...recording, data: shapes.data(event, data) };
          const row = eventRow(ids.next(), mutation.by, node, publicRecording, ++eventSequence, now);
          const body = cutToSize(row.body, (member) => shapes.isNeverCut(event, member));
          events.push({ ...row, body });
        }
        if (!audited) continue;
        const entry = auditEntry(ids.next(), mutation.op, mutation.by, node, recording, ++auditSequence, now);
        const sealing = sealEntry(entry, hash);
        ({ hash } = sealing);
        const outcome = recording.outcome ?? 'success';
        entries.push({ ...entry, ...sealing, outcome, tenantId: node.id, occurredAt: now });
      }
      heads.push({ id: node.id, policy: policyBumps, auditSequence, eventSequence, hash });
    }
    return { entries, events, heads };
  }

  async function writeChunk(
    tx: Executor,
    batches: readonly NodeBatch[],
    announcement?: Announcement,
  ): Promise<void> {
    const nodes = batches.map(({ node }) => node.id);
    const chainHeads = await lockChainHeads(tx, nodes);
    for (const { items } of batches) for (const { mutation } of items) assertSameCaller(mutation.by);
    const records = compose(batches, chainHeads);
    const appended = append(tx, records, relay.due, announcement?.columns).then(
      ({ transaction, needsRelay }) => {
        announcement?.onTransaction(Number(transaction));
        if (needsRelay) batches[0]?.items[0]?.mutation.notes.afterCommit.push(() => void relay.flush());
      },
    );
    // Other mutations wait for the locks of the nodes, so send the commit together with this statement.
    await deferToCommit(tx, appended);
  }

  return async (tx, mutations, announcement) => {
    const [first, ...others] = chunks(groupByNode(mutations));
    if (first) await writeChunk(tx, first, announcement);
    else if (announcement) await deferToCommit(tx, announce(tx, announcement));
    for (const chunk of others) {
      // A chunk occupies this thread for a tenth of a second, so let other requests run first.
      await nextTick();
      await writeChunk(tx, chunk);
    }
  };
}

async function announce(tx: Executor, { columns, onTransaction }: Announcement): Promise<void> {
  const [row] = await rowsOf<{ transaction: string }>(tx, sql`select ${columns}`);
  onTransaction(Number(row?.transaction));
}

/**
 * The recordings of one node, in order. The first recording of a mutation gets an audit entry; the others only if they
 * are `audited`.
 */
interface NodeBatch {
  readonly node: NodeRef;
  readonly items: {
    readonly mutation: MutationRecord;
    readonly recording: Recording;
    readonly audited: boolean;
  }[];
  /** The increment of the policy version. */
  policyBumps: number;
}

/** Invalidates cached permissions of the tenant after every mutation, unless the operation is declared to keep them. */
export function invalidateRights(
  op: RecordedOperation,
  { scope }: Author,
  { recordings, topics }: MutationNotes,
): void {
  if (op.permissionChange === 'none') return;
  if (scope) topics.add(`node:${scope.nodeId}`);
  for (const { node } of recordings) if (node) topics.add(`node:${node.id}`);
}

/** Groups recordings by node, sorted by node id, so that two transactions cannot deadlock. */
function groupByNode(mutations: readonly MutationRecord[]): NodeBatch[] {
  const batches = new Map<string, NodeBatch>();
  for (const mutation of mutations) {
    const { op, by, notes } = mutation;
    const fallback = by.scope && { id: by.scope.nodeId, scope: nodeRef(by.scope) };
    const changedNodes = new Set<string>(fallback ? [fallback.id] : []);
    const [first] = notes.recordings;
    for (const recording of notes.recordings) {
      const node = recording.node ?? fallback;
      if (!node) continue;
      const batch: NodeBatch = batches.get(node.id) ?? { node, items: [], policyBumps: 0 };
      batches.set(node.id, batch);
      batch.items.push({ mutation, recording, audited: recording === first || recording.audited === true });
      changedNodes.add(node.id);
    }
    if (op.permissionChange === 'none') continue;
    for (const id of changedNodes) {
      const batch = batches.get(id);
      if (batch) batch.policyBumps++;
    }
  }
  return [...batches.values()].sort((a, b) => (a.node.id < b.node.id ? -1 : 1));
}

/** Bounds the size of a statement. Many recordings are possible: the deletion of an app may end many sessions. */
const CHUNK_ITEMS = 1000;

/** Splits a node with very many recordings into parts. Each part continues the chain of the one before. */
function* parts(batch: NodeBatch): Generator<NodeBatch> {
  const { items, ...node } = batch;
  if (items.length <= CHUNK_ITEMS) {
    yield batch;
    return;
  }
  for (let at = 0; at < items.length; at += CHUNK_ITEMS)
    yield {
      ...node,
      items: items.slice(at, at + CHUNK_ITEMS),
      policyBumps: at === 0 ? node.policyBumps : 0,
    };
}

/** Splits the batches in their order, so that locks are still taken in the order of node ids. */
function chunks(batches: readonly NodeBatch[]): NodeBatch[][] {
  const result: NodeBatch[][] = [];
  let available = 0;
  for (const batch of batches.flatMap((whole) => [...parts(whole)])) {
    available -= batch.items.length;
    if (available < 0) {
      result.push([]);
      available = CHUNK_ITEMS - batch.items.length;
    }
    result.at(-1)?.push(batch);
  }
  return result;
}

/** A denial changes nothing, and a deletion is recorded after its node was marked; neither needs a live node. */
const needsLiveNode = ({ node, outcome = 'success' }: Recording): boolean =>
  outcome === 'success' && !node?.evenDeleted;

/** The event envelope (events §2), as it is stored and delivered. */
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
    actor: {
      type: actor.type,
      id: actor.id,
      userId: actor.userId,
      ...(actor.impersonator && { impersonatorId: actor.impersonator.id }),
    },
    requestId: call.requestId,
    data,
    ...(changes && Object.keys(changes).length > 0 ? { changes } : {}),
  };
  return { id, tenantId: node.id, sequence, type: event, occurredAt, body };
}

/** The actor in entries and events for a principal. */
export function actorOf(principal: Principal | null): Actor {
  if (!principal) return { type: 'anonymous', id: null, userId: null, name: null };
  const { type, userId, credentialId, name, impersonator } = principal;
  if (type === 'session')
    return { type: 'user', id: userId, userId, name, ...(impersonator && { impersonator }) };
  return { type: type === 'ApiKey' ? 'apiKey' : 'projectApp', id: credentialId, userId, name };
}

function auditEntry(
  id: string,
  op: RecordedOperation,
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
    ipAddress: recording.audited ? null : call.address,
    userAgent: recording.audited ? null : call.userAgent,
    requestId: call.requestId,
  };
}
