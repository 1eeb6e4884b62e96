import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { rowsOf } from '../../db/statements/rows.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import type { Context } from '../../services.ts';
import { credentialKey } from '../../kernel/charge.ts';
import { Scope } from '../../kernel/scope.ts';
import { isEventFilter, eventFilters, PING } from '../event-types/catalogue.ts';
import { Event, type EventPage } from './event.ts';
import { decodePosition, encodePosition, idSuffix, type FeedPosition } from './feed-position.ts';

/*
 * The feed of a scope (events §4). The events of a node come in the order of its sequence, which is the order of
 * commits. Nodes have no common order: a transaction in one project may write its event first and commit last. A
 * cursor by time would skip that event forever, so the cursor has a position in each node.
 *
 * One statement reads the whole page. It sees each node's sequence from the beginning without gaps, because a
 * transaction that takes a number keeps the node locked until its commit.
 */

export const feedInput = {
  scope: Scope,
  after: z.string().min(1).max(16_000).optional().meta({
    description:
      '`nextCursor` of the previous page; without it, the page begins with the oldest retained event.',
  }),
  types: z
    .array(
      z
        .string()
        .max(100)
        .refine((name) => isEventFilter(name), { params: { code: 'enum', allowed: eventFilters } }),
    )
    .min(1)
    .max(50)
    .optional()
    .meta({ description: 'Only these types: names, or all types of a noun (`api_key.*`).' }),
  limit: z.int().min(1).max(100).default(50).describe('Maximum number of events per page.'),
  includeProjects: z
    .boolean()
    .default(false)
    .meta({ description: 'true: in an organization, the events of its projects too.' }),
};

const DAY_MS = 86_400_000;
/** The maximum number of nodes in one feed: the cursor with their positions must fit into a URL. */
const MAX_NODES = 500;

interface NodeState {
  readonly id: string;
  readonly live: boolean;
  /** How many events the node has had, including purged ones. */
  readonly counted: number;
  /** First and last sequence of the retained events; null if there are none. */
  readonly first: number | null;
  readonly last: number | null;
}
interface EventRow {
  readonly nodeId: string;
  readonly sequence: number;
  /** The stored `Event`, with its time as text. */
  readonly body: Readonly<Record<string, unknown>> | null;
}
type Feed = Pick<Context<typeof feedInput>, 'input' | 'scope' | 'services' | 'tx' | 'principal' | 'call'>;

/**
 * Reads one page of the feed. `nextCursor` continues after it, even if no more events exist yet.
 * @throws VALIDATION_ERROR for `includeProjects` outside an organization or with too many projects, INVALID_CURSOR
 * for a cursor of another query, or one whose next events are no longer retained
 */
export async function readFeed(ctx: Feed): Promise<z.output<typeof EventPage>> {
  const { input, scope, services } = ctx;
  const { after, types, limit, includeProjects } = input;
  if (includeProjects && scope.tenant !== 'organization') throw invalidIncludeProjects('not_allowed');
  const caller = credentialKey(callerOf(ctx), ctx.call);
  const binding = JSON.stringify(['events', caller, scope.tenant, scope.id, includeProjects, types ?? null]);
  const retentionMs = services.config.retention.eventsDays * DAY_MS;
  const position = decodePosition(
    after === undefined ? '' : services.cursors.open(after, binding, retentionMs).value,
  );
  const retainedFrom = new Date(services.clock.now().getTime() - retentionMs);
  const { nodes, rows } = await readRows(ctx, position, retainedFrom);
  if (nodes.filter(({ first }) => first !== null).length > MAX_NODES) throw invalidIncludeProjects('too_big');

  const hasNextPage = rows.length > limit;
  const items = rows.slice(0, limit);
  const lastOfPage = new Map(items.map(({ nodeId, sequence }) => [nodeId, sequence]));
  const next = new Map<string, number>();
  for (const { id, live, counted, first, last } of nodes) {
    const previous = position.get(idSuffix(id));
    // Unread events are no longer retained; for a deleted project that is intended.
    if (previous !== undefined && live && previous < (first ?? counted + 1) - 1) throw fail('INVALID_CURSOR');
    // A node without retained events needs no position: every event to come is new.
    if (first === null || last === null) continue;
    const lastRead = Math.max(previous ?? 0, lastOfPage.get(id) ?? first - 1);
    const sequence = hasNextPage ? lastRead : Math.max(lastRead, last);
    next.set(idSuffix(id), Math.min(sequence, next.get(idSuffix(id)) ?? sequence));
  }
  return {
    items: items.flatMap((row) => parseEvent(row, services)),
    totalCount: null,
    hasNextPage,
    nextCursor: services.cursors.seal({ value: encodePosition(next), id: '' }, binding),
  };
}

/** Skips, with a warning, a row that does not parse as an `Event`, so that it does not block the events after it. */
function parseEvent(
  { nodeId, sequence, body }: EventRow,
  { warn }: Feed['services'],
): z.output<typeof Event>[] {
  const parsed = Event.safeParse({ ...body, timestamp: new Date(String(body?.['timestamp'])) });
  if (parsed.success) return [parsed.data];
  warn(parsed.error, `event ${sequence} of ${nodeId} cannot be read`);
  return [];
}

const invalidIncludeProjects = (code: 'not_allowed' | 'too_big') =>
  fail('VALIDATION_ERROR', {
    details: [{ path: 'includeProjects', code }],
    ...(code === 'too_big' ? { fix: 'Read the feed of each project separately.' } : {}),
  });

/** Reads the state of each node, and the events after the position: one more than the page has. */
async function readRows({ tx, scope, input }: Feed, position: FeedPosition, retainedFrom: Date) {
  const isRetained = sql`e.occurred_at > ${retainedFrom.toISOString()}::timestamptz`;
  const own = sql`n.id = ${scope.nodeId}::uuid`;
  const nodes = input.includeProjects
    ? sql`(${own} or (n.parent_id = ${scope.nodeId}::uuid and n.kind = 'project'))`
    : own;
  const firstBy = (direction: SQL) =>
    sql`(select e.sequence from events e where e.tenant_id = n.id and ${isRetained} order by e.sequence ${direction} limit 1)`;
  const rowLimit = input.limit + 1;
  const [row] = await rowsOf<{ nodes: NodeState[]; rows: EventRow[] }>(
    tx,
    sql`
    with node_states as materialized (
      select n.id, n.deleted_at is null as live, n.event_sequence as counted,
        ${firstBy(sql`asc`)} as first, ${firstBy(sql`desc`)} as last,
        coalesce((${JSON.stringify(Object.fromEntries(position))}::jsonb ->> right(n.id::text, 12))::bigint, 0) as previous
      from nodes n where ${nodes}
    ),
    unread as (
      select p.id as "nodeId", e.body, e.sequence,
        -- The running maximum keeps the order of a node even if a clock went back.
        max(e.occurred_at) over (partition by p.id order by e.sequence) as at
      from node_states p cross join lateral (
        select e.body, e.sequence, e.occurred_at from events e
        where e.tenant_id = p.id and e.sequence > p.previous and ${isRetained} and ${typeCondition(input.types)}
        order by e.sequence limit ${rowLimit}
      ) e
    ),
    page as (select * from unread order by at, "nodeId", sequence limit ${rowLimit})
    select (select coalesce(json_agg(node_states), '[]') from node_states) as nodes,
      (select coalesce(json_agg(page order by at, "nodeId", sequence), '[]') from page) as rows`,
  );
  return row ?? { nodes: [], rows: [] };
}

/**
 * Type names contain `_`, which is a wildcard in LIKE, so it is escaped. Pings go only to their webhook, never to the
 * feed.
 */
function typeCondition(types: readonly string[] | undefined): SQL {
  const isNoPing = sql`e.type <> ${PING}`;
  if (!types) return isNoPing;
  const matches = (name: string) =>
    name.endsWith('.*')
      ? sql`e.type like ${`${name.slice(0, -1).replaceAll('_', '\\_')}%`}`
      : sql`e.type = ${name}`;
  return sql`(${isNoPing} and (${sql.join(types.map(matches), sql` or `)}))`;
}
