import { eq, sql } from 'drizzle-orm';
import { nodes } from '../db/nodes.ts';
import type { Call, Principal } from '../kernel/context.ts';
import type { Actor, NodeRef, Recording } from '../kernel/event.ts';
import type { MutationNotes, Recorded } from '../kernel/invoke.ts';
import type { NamedOperation } from '../kernel/operation.ts';
import type { Ids } from '../kernel/ports.ts';
import { nodeRef, unknownScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { sealEntry, type ChainEntry } from './audit-chain.ts';
import type { Relay } from './relay.ts';
import { auditLog, events } from './tables.ts';

/** Of the operation, or of a job that is none. */
type Act = Pick<NamedOperation, 'name' | 'keepsRights'>;
/** A job has no address. */
type Author = Pick<Recorded, 'scope' | 'principal'> & {
  readonly call: Pick<Call, 'userAgent' | 'requestId'> & { readonly address: string | null };
};
/** What an event of a type tells of what was recorded: its public part. @throws Error for a type that nobody declared */
export type EventData = (
  type: string,
  data: Readonly<Record<string, unknown>>,
) => Readonly<Record<string, unknown>>;
export type Recorder = (tx: Executor, op: Act, by: Author, notes: MutationNotes) => Promise<void>;

/**
 * Writes what a mutation leaves behind, in its own transaction: one audit entry, its events, and the next
 * version of the tenant's policy. The node's row is locked last and until commit, which makes the sequences
 * gapless and their order the order of commits.
 *
 * The same lock orders a mutation and the deletion of its node (`deleteNode`, which marks nodes before it looks for
 * their rows): either the deletion comes second and finds the rows, or the mutation does and is refused here.
 *
 * Events that the relay takes are due at once: it is told after commit, and looks for itself from time to time.
 *
 * @throws FORBIDDEN, as for a scope that never existed, when the node was deleted while the mutation ran
 */
export function createRecorder(
  ids: Ids,
  relay: Pick<Relay, 'takes' | 'flush'>,
  eventData: EventData,
): Recorder {
  return async (tx, op, by, notes) => {
    const fallback = by.scope && { id: by.scope.nodeId, scope: nodeRef(by.scope) };
    // Whatever a tenant's mutation changed, cached rights of that tenant are stale: nobody has to remember it.
    const stale = (nodeId: string): void => {
      if (!op.keepsRights) notes.topics.add(`node:${nodeId}`);
    };
    if (fallback) stale(fallback.id);
    const [first] = notes.recordings;
    if (!first) return;
    const main = first.node ?? fallback;
    if (!main) return;
    for (const node of nodesOf(notes.recordings, fallback)) {
      const own = notes.recordings.filter((recording) => (recording.node ?? fallback)?.id === node.id);
      await writeNode(node, own, node.id === main.id ? first : null);
      stale(node.id);
    }

    async function writeNode(node: NodeRef, recordings: readonly Recording[], audited: Recording | null) {
      const emitted = recordings.filter((recording) => recording.event !== undefined);
      const at = await countUp(tx, node.id, {
        policy: op.keepsRights ? 0 : 1,
        entries: audited ? 1 : 0,
        events: emitted.length,
      });
      if (at.deleted && recordings.some((recording) => needsLiveNode(recording))) throw unknownScope();
      const first = at.eventSequence - emitted.length + 1;
      const rows = emitted
        .map((one, index) => eventRow(ids.next(), by, node, told(one), first + index, at.now))
        .map((row) => ({ ...row, relayAt: relay.takes(row.type) ? at.now : null }));
      if (rows.some(({ relayAt }) => relayAt)) notes.afterCommit.push(() => void relay.flush());
      const emit = rows.length > 0 ? tx.insert(events).values(rows) : null;
      if (!audited) return void (await emit);
      const entry = auditEntry(ids.next(), op, by, node, audited, at.auditSequence, at.now);
      const sealing = sealEntry(entry, at.previousHash);
      const outcome = audited.outcome ?? 'success';
      const append = tx
        .insert(auditLog)
        .values({ ...entry, ...sealing, outcome, tenantId: node.id, occurredAt: at.now });
      // One statement, because the node is locked by now and others wait for it.
      await tx.execute(
        sql`with appended as ${append}${emit ? sql`, emitted as ${emit}` : sql``}
          update ${nodes} set audit_hash = ${sealing.hash} where id = ${node.id}`,
      );
    }
  };

  function told(recording: Recording): Recording {
    const { event = '', data = {} } = recording;
    return { ...recording, data: eventData(event, data) };
  }
}

/** Takes the node's lock, which is held until commit, and the next numbers of its counters. */
async function countUp(tx: Executor, id: string, by: { policy: number; entries: number; events: number }) {
  const [counters] = await tx
    .update(nodes)
    .set({
      policyVersion: sql`${nodes.policyVersion} + ${by.policy}`,
      auditSequence: sql`${nodes.auditSequence} + ${by.entries}`,
      eventSequence: sql`${nodes.eventSequence} + ${by.events}`,
    })
    .where(eq(nodes.id, id))
    .returning({
      auditSequence: nodes.auditSequence,
      previousHash: nodes.auditHash,
      eventSequence: nodes.eventSequence,
      deleted: sql<boolean>`${nodes.deletedAt} is not null`,
      now: sql<string>`clock_timestamp()`,
    });
  if (!counters) throw new Error(`no tenant node ${id}`);
  return { ...counters, now: new Date(counters.now) };
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

/** Nodes that the recordings belong to, each once, in a fixed order so that two mutations cannot deadlock. */
function nodesOf(recordings: readonly Recording[], fallback: NodeRef | undefined): NodeRef[] {
  const found = new Map<string, NodeRef>();
  for (const { node = fallback } of recordings) if (node) found.set(node.id, node);
  return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
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
