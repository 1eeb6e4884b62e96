import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventCatalogue, eventData, PING } from '../../src/features/event-types/catalogue.ts';
import type { JsonSchema } from '../../src/kernel/json-schema.ts';
import { operations } from '../../src/operations.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { transports } from '../support/client.ts';
import { dataFaults } from './schema-check.ts';

/** Event types are what the contract names, what is emitted, and what is answered about them. */
interface Told {
  readonly name: string;
  readonly description: string;
  readonly optIn: boolean;
  readonly schema: JsonSchema;
  readonly example: Record<string, unknown>;
}

/** Events §3. */
const named = [
  ...['created', 'rotated', 'revoked', 'deleted', 'expiring', 'exchanged'].map((one) => `api_key.${one}`),
  ...['created', 'updated', 'deleted', 'member_added', 'member_role_changed', 'member_removed'].map(
    (one) => `organization.${one}`,
  ),
  ...['created', 'accepted', 'revoked'].map((one) => `invitation.${one}`),
  ...['created', 'updated', 'deleted', 'user_added', 'user_roles_changed', 'user_removed'].map(
    (one) => `project.${one}`,
  ),
  ...[
    'created',
    'updated',
    'deleted',
    'email_verified',
    'password_changed',
    'mfa_changed',
    'sign_in_methods_changed',
  ].map((one) => `user.${one}`),
  ...['project_app', 'role', 'group', 'permission', 'resource'].flatMap((noun) =>
    ['created', 'updated', 'deleted'].map((one) => `${noun}.${one}`),
  ),
  ...['created', 'revoked', 'reuse_detected'].map((one) => `session.${one}`),
  'signing_key.rotated',
  ...['failing', 'disabled', 'recovered', 'ping'].map((one) => `webhook.${one}`),
];
const optIn = ['api_key.exchanged', 'session.created'];

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

describe('the catalogue', () => {
  it('has the types of the contract, and which of them are opt-in', () => {
    expect([...eventCatalogue.keys()].sort()).toEqual([...named].sort());
    const marked = [...eventCatalogue.values()].filter((one) => one.optIn).map(({ name }) => name);
    expect(marked.sort()).toEqual(optIn);
  });

  it('has exactly what operations and jobs emit', () => {
    const root = join(import.meta.dirname, '..', '..', 'src');
    const written = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .flatMap((file) => [
        ...readFileSync(join(root, file), 'utf8').matchAll(/\bevent: '([a-z_]+\.[a-z_]+)'/g),
      ])
      .map(([, name]) => name);
    // A ping is sent and never happened.
    const emitted = new Set([...operations.flatMap(({ emits }) => emits ?? []), ...written, PING]);
    expect([...emitted].sort()).toEqual([...eventCatalogue.keys()].sort());
  });

  it('lets nothing through that a schema does not name, and no type that is not declared', () => {
    const { data } = { data: { ...eventCatalogue.get('role.created')?.example, secret: 's', groups: [] } };
    const example = eventCatalogue.get('role.created')?.example;
    // As it is stored: times are texts.
    expect(eventData('role.created', data)).toEqual(JSON.parse(JSON.stringify(example)));
    expect(() => eventData('role.invented', {})).toThrow('role.invented');
  });
});

describe.each(transports)('event types over %s', (via) => {
  const list = async (input: object) => {
    const answer = await app.raw('eventTypes', input, { via });
    expect(answer.ok, answer.body).toBe(true);
    return answer.data as { items: Told[]; totalCount: number; hasNextPage: boolean; nextCursor: string };
  };

  it('are answered to everybody, with examples that keep their schemas', async () => {
    const { items, totalCount } = await list({ limit: 100 });
    expect(items.map(({ name }) => name).sort()).toEqual([...eventCatalogue.keys()].sort());
    expect(totalCount).toBe(items.length);
    for (const one of items) {
      expect(dataFaults(one.schema, one.example), one.name).toEqual([]);
      expect(dataFaults(one.schema, { ...one.example, id: 7 }), one.name).not.toEqual([]);
    }
  });

  it('come in pages', async () => {
    const first = await list({ limit: 20 });
    const second = await list({ limit: 20, cursor: first.nextCursor });
    expect(await list({ limit: 20, page: 2 })).toMatchObject({ items: second.items });
    const third = await list({ limit: 20, cursor: second.nextCursor });
    const all = [first, second, third].flatMap(({ items }) => items.map(({ name }) => name));
    expect(all).toEqual([...eventCatalogue.keys()]);
    expect([first.hasNextPage, third.hasNextPage, third.nextCursor]).toEqual([true, false, null]);
    const both = await app.raw('eventTypes', { page: 2, cursor: first.nextCursor }, { via });
    expect(both.details).toMatchObject([{ path: 'cursor', code: 'excluded' }]);
    expect((await app.raw('eventTypes', { cursor: 'x' }, { via })).code).toBe('INVALID_CURSOR');
  });
});
