import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventCatalogue, eventData, PING } from '../../src/webhooks/event-types/catalogue.ts';
import { installationTypes } from '../../src/webhooks/event-types/installation-types.ts';
import type { JsonSchema } from '../../src/kernel/output/json-schema.ts';
import { operations } from '../../src/operations.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { dataFaults } from './schema-check.ts';

/** The types of events are the same in the contract, in what is emitted, and in what the API lists. */
interface Mentioned {
  readonly name: string;
  readonly description: string;
  readonly optIn: boolean;
  readonly schema: JsonSchema;
  readonly example: Record<string, unknown>;
}

/** The table of events §3. */
const named = [
  'policy.applied',
  ...['created', 'rotated', 'revoked', 'deleted', 'expiring', 'exchanged'].map((item) => `api_key.${item}`),
  ...[
    'created',
    'updated',
    'deleted',
    'suspended',
    'reactivated',
    'member_added',
    'member_role_changed',
    'member_removed',
  ].map((item) => `organization.${item}`),
  ...['created', 'accepted', 'revoked'].map((item) => `invitation.${item}`),
  ...['created', 'updated', 'deleted', 'user_added', 'user_roles_changed', 'user_removed'].map(
    (item) => `project.${item}`,
  ),
  ...[
    'created',
    'updated',
    'deleted',
    'suspended',
    'reactivated',
    'email_verified',
    'password_changed',
    'mfa_changed',
    'sign_in_methods_changed',
  ].map((item) => `user.${item}`),
  ...['project_app', 'role', 'group', 'permission', 'resource'].flatMap((noun) =>
    ['created', 'updated', 'deleted'].map((item) => `${noun}.${item}`),
  ),
  ...['created', 'revoked', 'reuse_detected'].map((item) => `session.${item}`),
  ...['started', 'entered', 'ended'].map((item) => `impersonation.${item}`),
  ...['created', 'updated', 'accepted', 'declined', 'suspended', 'resumed', 'revoked', 'user_changed'].map(
    (item) => `project_grant.${item}`,
  ),
  ...['verified', 'lapsed', 'deleted'].map((item) => `organization_domain.${item}`),
  ...['created', 'updated', 'deleted', 'bypassed'].map((item) => `organization_connection.${item}`),
  'signing_key.rotated',
  ...['failing', 'disabled', 'recovered', 'ping'].map((item) => `webhook.${item}`),
];
const optIn = ['api_key.exchanged', 'project_grant.user_changed', 'session.created'];

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

describe('the catalogue', () => {
  it('has the types of the contract, and marks the same ones as opt-in', () => {
    expect([...eventCatalogue.keys()].sort()).toEqual([...named].sort());
    const marked = [...eventCatalogue.values()]
      .filter((eventType) => eventType.optIn)
      .map(({ name }) => name);
    expect(marked.sort()).toEqual(optIn);
  });

  it('has exactly the types that operations and jobs emit', () => {
    const root = join(import.meta.dirname, '..', '..', 'src');
    const written = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .flatMap((file) => [
        ...readFileSync(join(root, file), 'utf8').matchAll(/\bevent: '([a-z_]+\.[a-z_]+)'/g),
      ])
      .map(([, name]) => name);
    // A ping is sent without a recorded event.
    const emitted = new Set([...operations.flatMap(({ emits }) => emits ?? []), ...written, PING]);
    const declared = [...eventCatalogue.keys(), ...installationTypes.keys()];
    expect([...emitted].sort()).toEqual(declared.sort());
  });

  it('rejects members that the schema does not declare, and undeclared types', () => {
    const { data } = { data: { ...eventCatalogue.get('role.created')?.example, secret: 's', groups: [] } };
    const example = eventCatalogue.get('role.created')?.example;
    // As stored: times are strings.
    expect(eventData('role.created', data)).toEqual(JSON.parse(JSON.stringify(example)));
    expect(() => eventData('role.invented', {})).toThrow('role.invented');
  });
});

describe.each(storyTransports(import.meta))('event types over %s', (via) => {
  const list = async (input: object) => {
    const answer = await app.raw('eventTypes', input, { via });
    expect(answer.ok, answer.body).toBe(true);
    return answer.data as {
      items: Mentioned[];
      totalCount: number;
      hasNextPage: boolean;
      nextCursor: string;
    };
  };

  it('are listed for every caller, with examples that are valid by their schemas', async () => {
    const { items, totalCount } = await list({ limit: 100 });
    expect(items.map(({ name }) => name).sort()).toEqual([...eventCatalogue.keys()].sort());
    expect(totalCount).toBe(items.length);
    for (const item of items) {
      expect(dataFaults(item.schema, item.example), item.name).toEqual([]);
      expect(dataFaults(item.schema, { ...item.example, id: 7 }), item.name).not.toEqual([]);
    }
  });

  it('are paginated', async () => {
    const first = await list({ limit: 20 });
    const second = await list({ limit: 20, cursor: first.nextCursor });
    expect(await list({ limit: 20, page: 2 })).toMatchObject({ items: second.items });
    const third = await list({ limit: 20, cursor: second.nextCursor });
    const last = await list({ limit: 20, cursor: third.nextCursor });
    const all = [first, second, third, last].flatMap(({ items }) => items.map(({ name }) => name));
    expect(all).toEqual([...eventCatalogue.keys()]);
    expect([first.hasNextPage, last.hasNextPage, last.nextCursor]).toEqual([true, false, null]);
    const both = await app.raw('eventTypes', { page: 2, cursor: first.nextCursor }, { via });
    expect(both.details).toMatchObject([{ path: 'cursor', code: 'excluded' }]);
    expect((await app.raw('eventTypes', { cursor: 'x' }, { via })).code).toBe('INVALID_CURSOR');
  });
});
