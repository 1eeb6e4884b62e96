import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { dataFaults } from '../../../test/contract/schema-check.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { cutToSize, MAX_EVENT_BYTES } from '../../events/outbox/cut-to-size.ts';
import type { JsonSchema } from '../../kernel/output/json-schema.ts';
import { jsonSchemaOptions, metadata as metadataValue } from '../../kernel/input/values.ts';
import { eventCatalogue, isFixedMember } from '../event-types/catalogue.ts';

/** Events stay small enough to send, however much a row contains. */
type Json = Record<string, unknown>;
interface Envelope {
  readonly data: Json;
  readonly changes?: Record<string, { from: unknown; to: unknown }>;
  readonly truncated?: string[];
}

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const asSent = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const cutOf = (type: string, event: Envelope): Envelope =>
  cutToSize(event, (member) => isFixedMember(type, member));

/** The envelope without `data` and `changes`; each member has its longest value. */
const around = (type: string) => ({
  id: 'evt_0190b6f0-0000-7000-8000-000000000001',
  type,
  version: 1,
  timestamp: '2026-01-15T09:30:00.000Z',
  sequence: Number.MAX_SAFE_INTEGER,
  scope: { tenant: 'organizationProject', id: 'x'.repeat(73) },
  actor: { type: 'projectApp', id: 'x'.repeat(36), userId: 'x'.repeat(36) },
  requestId: 'x'.repeat(64),
});

const text = (max: number) =>
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom('a', 'é', '"', '\n', '𝄞', '👩‍👩‍👧').map((item) => first(item.repeat(max), max)),
  );
const first = (of: string, count: number): string => Array.from(of).slice(0, count).join('');
const members = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`key.${n}`.padEnd(20, '-'), value]));
/** Everything that a caller may send, often of the maximum size. */
const metadata = fc
  .oneof(
    fc.tuple(fc.nat(64), text(120)).map(([count, value]) => members(count, value)),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => members(64, value)),
    fc.nat(9).map((digit) => ({ list: Array.from({ length: 4000 }, () => digit) })),
    fc
      .tuple(fc.nat(30), text(300))
      .map(([count, item]) => ({ texts: Array.from({ length: count }, () => item) })),
    fc.record({ long: text(8000), deep: fc.record({ a: fc.record({ b: text(2000) }) }) }),
  )
  .filter((item) => metadataValue.safeParse(item).success);
const links = fc
  .nat(1000)
  .map((count) => Array.from({ length: count }, () => '0190b6f0-0000-7000-8000-00000000000a'));
const change = (of: fc.Arbitrary<unknown>) => fc.record({ from: of, to: of });
const url = fc.constantFrom('é', 'a').map((item) => `https://example.com/${item.repeat(2000)}`);

const large = fc.record({
  fields: fc.record({
    name: fc.oneof(fc.constant('Ada'), fc.constant('𝄞'.repeat(255))),
    // The smallest maximum length of a description in any noun.
    description: text(500),
    metadata,
    condition: metadata,
    pictureUrl: url,
    userAgent: text(512),
    actions: fc.array(fc.constant('a'.repeat(63)), { maxLength: 50 }),
    roleIds: links,
  }),
  changes: fc.record(
    {
      name: change(fc.constant('𝄞'.repeat(255))),
      description: change(text(1000)),
      metadata: change(metadata),
      condition: change(metadata),
      pictureUrl: change(url),
      groupIds: change(links),
    },
    { requiredKeys: [] },
  ),
});

/** Returns the paths of values of `of` that are shortened in `cut`. Expects everything else to be unchanged. */
function missing(of: unknown, cut: unknown, path: string): string[] {
  if (typeof of === 'string' && of !== cut) {
    expect(of.startsWith(cut as string), path).toBe(true);
    expect(cut as string, path).not.toMatch(/\p{Cs}/u);
    expect(Array.from(cut as string).length).toBeGreaterThanOrEqual(255);
    return [path];
  }
  if (typeof of !== 'object' || of === null) {
    // There may be thousands of numbers, so `expect` is called only for a difference.
    if (cut !== of) expect(cut, path).toEqual(of);
    return [];
  }
  const kept = Object.entries(cut as object);
  const had = Object.entries(of);
  expect(kept.map(([name]) => name)).toEqual(had.slice(0, kept.length).map(([name]) => name));
  const inner = kept.flatMap(([name, item], at) => missing(had[at]?.[1], item, `${path}.${name}`));
  return kept.length < had.length ? [path, ...inner] : inner;
}

describe('an event', () => {
  const types = [...eventCatalogue.values()];
  const schemas = new Map(
    types.map(({ name, schema }) => [name, z.toJSONSchema(schema, { ...jsonSchemaOptions, io: 'output' })]),
  );

  it('stays below 20 KB, keeps its schema, and says what it lacks', () => {
    const counts = { whole: 0, cut: 0 };
    fc.assert(
      fc.property(fc.constantFrom(...eventCatalogue.keys()), large, (name, { fields, changes }) => {
        const { example = {} } = eventCatalogue.get(name) ?? {};
        const own = Object.entries(fields).filter(([member]) => member in example);
        const data = { ...example, ...Object.fromEntries(own) };
        const event = asSent({ ...around(name), data, changes });
        const cut = cutOf(name, event);
        expect(bytes(cut)).toBeLessThanOrEqual(MAX_EVENT_BYTES);
        expect(dataFaults(schemas.get(name) as JsonSchema, cut.data)).toEqual([]);
        expect(cutOf(name, event)).toEqual(cut);
        if (bytes(event) <= MAX_EVENT_BYTES) {
          counts.whole++;
          return void expect(cut).toEqual(event);
        }
        for (const member of Object.keys(cut.data)) {
          if (isFixedMember(name, member)) expect(cut.data[member]).toEqual(event.data[member]);
        }
        const { truncated = [], ...rest } = cut;
        const changed = missing(event.changes, rest.changes, 'changes');
        expect([...truncated].sort()).toEqual([...missing(event.data, rest.data, 'data'), ...changed].sort());
        counts.cut++;
      }),
      { numRuns: Number(process.env['EVENT_RUNS'] ?? 60), seed: 20_261_121, endOnFailure: true },
    );
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
  });

  it('loses no more than it must: the longest texts, and lists only if that is not enough', () => {
    const example = eventCatalogue.get('role.updated')?.example ?? {};
    const changes = (from: unknown, to: unknown) => ({
      ...around('role.updated'),
      data: example,
      changes: { metadata: { from, to } },
    });
    const texts = cutOf(
      'role.updated',
      changes({ a: 'x'.repeat(15_000), b: 'y'.repeat(4000) }, { a: 'x'.repeat(3000) }),
    );
    expect(texts.truncated).toEqual(['changes.metadata.from.a']);
    expect(bytes(texts)).toBe(MAX_EVENT_BYTES);
    const lists = cutOf(
      'role.updated',
      changes({ a: Array(9000).fill(1), b: 'x'.repeat(255) }, { a: Array(3000).fill(1) }),
    );
    expect(lists.truncated).toEqual(['changes.metadata.from.a']);
    expect(bytes(lists)).toBeGreaterThan(MAX_EVENT_BYTES - 3);
  });

  it('reports only that a link changed if old and new are too long, and never a part of one', () => {
    const link = `https://example.com/${'は'.repeat(2028)}`;
    const data = { ...eventCatalogue.get('user.updated')?.example, pictureUrl: link };
    const changes = {
      pictureUrl: { from: link, to: link },
      name: { from: '𝄞'.repeat(255), to: '𝄞'.repeat(255) },
    };
    const cut = cutOf('user.updated', { ...around('user.updated'), data, changes });
    expect(cut.data).toEqual(asSent(data));
    expect(cut.changes).toEqual({ pictureUrl: { from: null, to: null }, name: { from: null, to: null } });
    expect(cut.truncated).toEqual(['changes.pictureUrl', 'changes.name']);
  });
});

let app: TestApp;
let owner: Person;
beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
});
afterAll(() => app.close());

describe.each(storyTransports(import.meta))('over %s', (via) => {
  it('shows what was cut, and the audit entry has all of it', async () => {
    const as = { token: owner.token, via };
    const { scope } = await app.must('createProject', { scope: owner.account, name: 'P' }, as);
    const before = { description: '👍'.repeat(1000), metadata: { note: 'é'.repeat(4000) } };
    const after = { description: '👎'.repeat(1000), metadata: { note: 'è'.repeat(4000) } };
    const { id } = await app.must('createRole', { scope, name: 'R', ...before }, as);
    expect(await app.must('updateRole', { scope, id, ...after }, as)).toMatchObject(after);
    const { data: feed } = await app.raw('events', { scope, types: 'role.*' }, as);
    const [created, updated] = (feed as { items: Envelope[] }).items;
    expect(created?.truncated ?? null).toBeNull();
    expect(updated?.truncated?.sort()).toEqual([
      'changes.metadata.from.note',
      'changes.metadata.to.note',
      'data.metadata.note',
    ]);
    // Without the nulls by which GraphQL says that a member is absent.
    const { impersonatorId: _absent, ...actor } = (updated as unknown as { actor: Record<string, unknown> })
      .actor;
    expect(bytes({ ...updated, actor })).toBeLessThanOrEqual(MAX_EVENT_BYTES);
    expect(updated?.changes?.['description']).toEqual({ from: before.description, to: after.description });
    const log = await app.must('auditLogs', { scope, operation: 'updateRole' }, as);
    expect(log.items[0]?.changes).toMatchObject({ metadata: { from: before.metadata, to: after.metadata } });
  });
});
