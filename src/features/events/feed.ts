import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { rowsOf } from '../../db/rows.ts';
import { fail } from '../../errors.ts';
import { callerOf, type Context } from '../../kernel/context.ts';
import { credentialKey } from '../../kernel/charge.ts';
import { Scope } from '../../kernel/scope.ts';
import { isTypeOrNoun, typesAndNouns, PING } from '../event-types/catalogue.ts';
import { Event, type EventPage } from './event.ts';
import { decodePlace, encodePlace, tailOf } from './place.ts';

/**
 * The feed of a scope (events §4). Each node's events come in the order of its sequence, which is the order of commits.
 * Between nodes there is no such order: of two transactions in two projects the one that wrote its event first may
 * commit last. A place by time would pass over that event for ever, so the cursor is a place in every node.
 *
 * All is read by one statement: what it sees of a node is a beginning of its sequence without gaps, because the lock
 * of the node is held from the taking of a number until the commit.
 */
export const feedInput = {
  scope: Scope,
  after: z.string().min(1).max(16_000).optional().meta({
    description: '`nextCursor` of the page before; without it, the oldest event that is kept is the first.',
  }),
  types: z
    .array(
      z
        .string()
        .max(100)
        .refine((name) => isTypeOrNoun(name), { params: { code: 'enum', allowed: typesAndNouns } }),
    )
    .min(1)
    .max(50)
    .optional()
    .meta({ description: 'Only these types: names, or all of a noun (`api_key.*`).' }),
  limit: z.int().min(1).max(100).default(50).describe('Most events that one page holds.'),
  includeProjects: z
    .boolean()
    .default(false)
    .meta({ description: 'true: in an organization, the events of its projects too.' }),
};

const DAY_MS = 86_400_000;
/** Nodes of one feed: their places must fit into an address. */
const MAX_NODES = 500;

interface NodeState {
  readonly id: string;
  readonly live: boolean;
  /** How many events it ever had. */
  readonly counted: number;
  /** Of the events that are kept. */
  readonly first: number | null;
  readonly last: number | null;
}
interface Found {
  readonly nodeId: string;
  readonly sequence: number;
  /** As it was stored: in the form of `Event`, with its time as text. */
  readonly body: Readonly<Record<string, unknown>> | null;
}
type Feed = Pick<Context<typeof feedInput>, 'input' | 'scope' | 'services' | 'tx' | 'principal' | 'call'>;

/** @throws VALIDATION_ERROR for projects of what has none or too many, INVALID_CURSOR for a place that is not kept */
export async function readFeed(ctx: Feed): Promise<z.output<typeof EventPage>> {
  const { input, scope, services } = ctx;
  const { after, types, limit, includeProjects } = input;
  if (includeProjects && scope.tenant !== 'organization') throw refused('not_allowed');
  const caller = credentialKey(callerOf(ctx), ctx.call);
  const binding = JSON.stringify(['events', caller, scope.tenant, scope.id, includeProjects, types ?? null]);
  const keptMs = services.config.retention.eventsDays * DAY_MS;
  const place = decodePlace(after === undefined ? '' : services.cursors.open(after, binding, keptMs).value);
  const keptFrom = new Date(services.clock.now().getTime() - keptMs);
  const { nodes, found } = await read(ctx, place, keptFrom);
  if (nodes.filter(({ first }) => first !== null).length > MAX_NODES) throw refused('too_big');

  const hasNextPage = found.length > limit;
  const items = found.slice(0, limit);
  const shown = new Map(items.map(({ nodeId, sequence }) => [nodeId, sequence]));
  const next = new Map<string, number>();
  for (const { id, live, counted, first, last } of nodes) {
    const given = place.get(tailOf(id));
    // What was not read yet is gone. Of a deleted project it is meant to be.
    if (given !== undefined && live && given < (first ?? counted + 1) - 1) throw fail('INVALID_CURSOR');
    // Without events it needs no place: whatever comes is new.
    if (first === null || last === null) continue;
    const read = Math.max(given ?? 0, shown.get(id) ?? first - 1);
    const at = hasNextPage ? read : Math.max(read, last);
    next.set(tailOf(id), Math.min(at, next.get(tailOf(id)) ?? at));
  }
  return {
    items: items.flatMap((one) => readable(one, services)),
    totalCount: null,
    hasNextPage,
    nextCursor: services.cursors.seal({ value: encodePlace(next), id: '' }, binding),
  };
}

/** One that is in no form of ours is passed over: those behind it are to be read. */
function readable({ nodeId, sequence, body }: Found, { warn }: Feed['services']): z.output<typeof Event>[] {
  const read = Event.safeParse({ ...body, timestamp: new Date(String(body?.['timestamp'])) });
  if (read.success) return [read.data];
  warn(read.error, `event ${sequence} of ${nodeId} cannot be read`);
  return [];
}

const refused = (code: 'not_allowed' | 'too_big') =>
  fail('VALIDATION_ERROR', {
    details: [{ path: 'includeProjects', code }],
    ...(code === 'too_big' ? { fix: 'Read the feed of each project by itself.' } : {}),
  });

/** One event more than the page shows, from behind the place, and how far each node has come. */
async function read({ tx, scope, input }: Feed, place: ReadonlyMap<string, number>, keptFrom: Date) {
  const kept = sql`e.occurred_at > ${keptFrom.toISOString()}::timestamptz`;
  const own = sql`n.id = ${scope.nodeId}::uuid`;
  const nodes = input.includeProjects
    ? sql`(${own} or (n.parent_id = ${scope.nodeId}::uuid and n.kind = 'project'))`
    : own;
  const edge = (direction: SQL) =>
    sql`(select e.sequence from events e where e.tenant_id = n.id and ${kept} order by e.sequence ${direction} limit 1)`;
  const more = input.limit + 1;
  const [row] = await rowsOf<{ nodes: NodeState[]; found: Found[] }>(
    tx,
    sql`
    with place as materialized (
      select n.id, n.deleted_at is null as live, n.event_sequence as counted,
        ${edge(sql`asc`)} as first, ${edge(sql`desc`)} as last,
        coalesce((${JSON.stringify(Object.fromEntries(place))}::jsonb ->> right(n.id::text, 12))::bigint, 0) as given
      from nodes n where ${nodes}
    ),
    found as (
      select p.id as "nodeId", e.body, e.sequence,
        -- No event comes before one of its own node, whatever a clock said.
        max(e.occurred_at) over (partition by p.id order by e.sequence) as at
      from place p cross join lateral (
        select e.body, e.sequence, e.occurred_at from events e
        where e.tenant_id = p.id and e.sequence > p.given and ${kept} and ${named(input.types)}
        order by e.sequence limit ${more}
      ) e
    ),
    page as (select * from found order by at, "nodeId", sequence limit ${more})
    select (select coalesce(json_agg(place), '[]') from place) as nodes,
      (select coalesce(json_agg(page order by at, "nodeId", sequence), '[]') from page) as found`,
  );
  return row ?? { nodes: [], found: [] };
}

/** `_` is one of ours, and no wildcard. A ping is for its receiver alone. */
function named(types: readonly string[] | undefined): SQL {
  const all = sql`e.type <> ${PING}`;
  if (!types) return all;
  const one = (name: string) =>
    name.endsWith('.*')
      ? sql`e.type like ${`${name.slice(0, -1).replaceAll('_', '\\_')}%`}`
      : sql`e.type = ${name}`;
  return sql`(${all} and (${sql.join(types.map(one), sql` or `)}))`;
}
