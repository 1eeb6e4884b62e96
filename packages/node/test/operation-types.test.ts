import { expectTypeOf, it } from 'vitest';
import type { Api, components, DoorwardEvent, EventOf } from '../src/node.ts';

/** Types that the compiler checks; the test runs nothing. */
type Schemas = components['schemas'];
type Use = (api: Api) => unknown;

it('inputs are flat and exact', () => {
  const uses: Use[] = [
    (api) => api.createRole({ name: 'Clerk', groupIds: [] }),
    // @ts-expect-error name is missing
    (api) => api.createRole({}),
    // @ts-expect-error name is a text
    (api) => api.createRole({ name: 5 }),
    // @ts-expect-error no such member
    (api) => api.createRole({ name: 'Clerk', nmae: 'x' }),
    (api) => api.createRole({ name: 'Clerk', description: undefined }),
    (api) => api.createRole({ name: 'Clerk', scope: { tenant: 'organization', id: 'x' } }),
    // @ts-expect-error no such tenant
    (api) => api.createRole({ name: 'Clerk', scope: { tenant: 'galaxy', id: 'x' } }),
    (api) => api.role({ id: 'x', relations: ['groups'] }),
    // @ts-expect-error id is missing
    (api) => api.role({}),
    (api) => api.roles(),
    (api) => api.roles({ search: 'clerk', limit: 10 }, { timeoutMs: 100 }),
    // @ts-expect-error no such parameter
    (api) => api.roles({ serach: 'clerk' }),
    // @ts-expect-error the iterator has its own cursor
    (api) => api.roles.each({ cursor: 'x' }),
    (api) => api.me(),
    (api) => api.invitation({ token: 'x' }),
    (api) =>
      api.exchangeApiKey({
        clientId: 'a',
        clientSecret: 'b',
        scope: { tenant: 'organizationProject', id: 'x' },
      }),
    // @ts-expect-error the scope of a key has no default
    (api) => api.exchangeApiKey({ clientId: 'a', clientSecret: 'b' }),
  ];
  expectTypeOf(uses).toEqualTypeOf<Use[]>();
});

it('outputs are data', () => {
  const output = {
    created: (api: Api) => api.createRole({ name: 'Clerk' }),
    updated: (api: Api) => api.updateRole({ id: 'x', name: 'Clerk' }),
    dry: (api: Api) => api.updateRole({ id: 'x', name: 'Clerk', dryRun: true }),
    list: (api: Api) => api.roles(),
    each: (api: Api) => api.roles.each(),
    key: (api: Api) => api.createApiKey({ name: 'ci' }),
    exported: (api: Api) => api.exportAuditLogs({ scope: { tenant: 'organization', id: 'x' } }),
    jwks: (api: Api) => api.systemJwks(),
  };
  expectTypeOf(output.created).returns.resolves.toEqualTypeOf<Schemas['Role']>();
  expectTypeOf(output.updated).returns.resolves.toEqualTypeOf<Schemas['Role']>();
  expectTypeOf(output.dry).returns.resolves.toEqualTypeOf<Schemas['Impact']>();
  expectTypeOf(output.list).returns.resolves.toEqualTypeOf<Schemas['RolePage']>();
  expectTypeOf(output.each).returns.toEqualTypeOf<AsyncIterableIterator<Schemas['Role']>>();
  expectTypeOf(output.key).returns.resolves.toHaveProperty('clientSecret');
  expectTypeOf(output.exported).returns.resolves.toEqualTypeOf<Response>();
  expectTypeOf(output.jwks).returns.resolves.toHaveProperty('keys');
});

it('events have the data of their type', () => {
  expectTypeOf<EventOf<'role.created'>['data']>().toEqualTypeOf<Schemas['Role']>();
  expectTypeOf<Extract<DoorwardEvent, { type: 'role.created' }>['data']>().toEqualTypeOf<Schemas['Role']>();
});
