import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { CallOptions, Person } from '../../../test/support/app/client.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { entryHash, personalDigest, type ChainEntry } from '../../events/audit/audit-chain.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Reading the log: what is in it, who may, and that what is answered is enough to prove it. */
let app: TestApp;
let owner: Person;
let organization: ScopeRef;
let project: ScopeRef;

beforeAll(async () => {
  app = await startApp();
  owner = await app.person({ type: 'organization', name: 'Ada' });
  const as = { token: owner.token };
  const created = await app.must('createOrganization', { scope: owner.account, name: 'O' }, as);
  organization = { tenant: 'organization', id: created.id };
  project = (await app.must('createProject', { scope: organization, name: 'P' }, as)).scope;
  const tag = await app.must('createTag', { scope: project, name: 'T' }, as);
  await app.must('updateTag', { scope: project, id: tag.id, name: 'U' }, as);
  const key = await app.must('createApiKey', { scope: project, name: 'K' }, as);
  const credentials = { clientId: key.clientId, scope: key.scope };
  await app.must('exchangeApiKey', { ...credentials, clientSecret: key.clientSecret as string });
  await app.raw('exchangeApiKey', { ...credentials, clientSecret: 'wrong' });
  await app.must('updateOrganization', { scope: organization, id: created.id, name: 'O2' }, as);
});
afterAll(() => app.close());

interface Entry extends ChainEntry {
  readonly previousHash: string;
  readonly hash: string;
  readonly personalDigest: string;
  readonly salt: string;
}
interface Page {
  readonly items: Entry[];
  readonly nextCursor: string | null;
  readonly totalCount: number;
}

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const read = (input: object, options: CallOptions = {}) =>
    app.raw('auditLogs', input, { via, token: owner.token, ...options });
  const entries = async (input: object) => ((await read(input)).data as Page).items;
  const acts = async (input: object) => (await entries(input)).map(({ operation }) => operation);

  it('lists what was done, newest first', async () => {
    expect(await acts({ scope: project })).toEqual([
      'exchangeApiKey',
      'exchangeApiKey',
      'createApiKey',
      'updateTag',
      'createTag',
      'createProject',
    ]);
    const [failed, exchanged] = await entries({ scope: project });
    expect(failed).toMatchObject({ outcome: 'failed', code: 'UNAUTHENTICATED', event: null });
    expect(exchanged).toMatchObject({
      outcome: 'success',
      event: 'api_key.exchanged',
      actor: { type: 'apiKey', userId: owner.userId },
    });
    expect((exchanged as Entry).metadata).toMatchObject({ scope: { tenant: 'OrganizationProject' } });
    const [change] = await entries({ scope: project, operation: 'updateTag' });
    expect(change).toMatchObject({ changes: { name: { from: 'T', to: 'U' } }, target: { type: 'Tag' } });
  });

  it('is a chain that its readers can verify', async () => {
    const chain = await entries({ scope: project, sortOrder: 'ASC' });
    let previous = '0'.repeat(64);
    chain.forEach((entry, index) => {
      const { previousHash, hash, personalDigest: digest, salt, ...said } = entry;
      expect([said.sequence, previousHash]).toEqual([index + 1, previous]);
      expect(personalDigest(said, salt)).toBe(digest);
      expect(entryHash(said, previousHash, digest)).toBe(hash);
      previous = hash;
    });
  });

  it('is filtered', async () => {
    const scope = project;
    expect(await acts({ scope, event: 'api_key.*' })).toEqual(['exchangeApiKey', 'createApiKey']);
    expect(await acts({ scope, event: 'api_key.created' })).toEqual(['createApiKey']);
    expect(await acts({ scope, outcome: 'failed' })).toEqual(['exchangeApiKey']);
    expect(await acts({ scope, targetType: 'Tag' })).toEqual(['updateTag', 'createTag']);
    const [first] = await entries({ scope, operation: 'createTag' });
    expect(await acts({ scope, targetId: first?.target?.id })).toEqual(['updateTag', 'createTag']);
    expect(await acts({ scope, actorId: owner.userId })).toHaveLength(6);
    expect(await acts({ scope, actorId: project.id.split(':')[1] })).toEqual([]);
    const { occurredAt } = first as Entry;
    expect(await acts({ scope, to: occurredAt })).toEqual(['createProject']);
    expect(await acts({ scope, from: occurredAt })).toHaveLength(5);
  });

  it('pages by cursor', async () => {
    const first = (await read({ scope: project, limit: 4 })).data as Page;
    const second = (await read({ scope: project, limit: 4, cursor: first.nextCursor })).data as Page;
    expect([...first.items, ...second.items].map(({ sequence }) => sequence)).toEqual([6, 5, 4, 3, 2, 1]);
    expect([first.totalCount, second.nextCursor]).toEqual([6, null]);
  });

  it('adds the projects of an organization when asked, and of nothing else', async () => {
    expect(await acts({ scope: organization })).toEqual(['updateOrganization', 'createOrganization']);
    expect(await acts({ scope: organization, includeProjects: true })).toHaveLength(8);
    expect((await read({ scope: project, includeProjects: true })).details).toMatchObject([
      { path: 'includeProjects', code: 'not_allowed' },
    ]);
  });

  it('is read with the permission only', async () => {
    const as = { token: owner.token };
    const { scope } = await app.must('createProject', { scope: owner.account, name: 'Other' }, as);
    const viewer = await app.must('createApiKey', { scope, roleId: roleIdOf('Project Viewer') }, as);
    const { accessToken } = await app.must('exchangeApiKey', {
      clientId: viewer.clientId,
      clientSecret: viewer.clientSecret as string,
      scope: viewer.scope,
    });
    expect(await read({ scope }, { token: accessToken })).toMatchObject({ reason: 'NO_PERMISSION' });
    const stranger = await app.person();
    expect(await read({ scope: project }, { token: stranger.token })).toMatchObject({
      code: 'FORBIDDEN',
      reason: 'INVALID_SCOPE',
    });
  });

  it('records refusals of members, equal ones of a minute as one, and none of strangers', async () => {
    const as = { token: owner.token };
    const { scope } = await app.must('createProject', { scope: owner.account, name: 'Closed' }, as);
    const key = await app.must('createApiKey', { scope, roleId: roleIdOf('Project Viewer') }, as);
    const credentials = {
      clientId: key.clientId,
      clientSecret: key.clientSecret as string,
      scope: key.scope,
    };
    const { accessToken: token } = await app.must('exchangeApiKey', credentials);
    const knock = (caller: string) => app.raw('createTag', { scope, name: 'T' }, { via, token: caller });
    const stranger = await app.person();
    for (const caller of [token, token, token, stranger.token]) {
      expect((await knock(caller)).code).toBe('FORBIDDEN');
    }
    const refused = async () =>
      (await entries({ scope, outcome: 'denied', sortOrder: 'ASC' })).map((entry) => [
        entry.operation,
        entry.code,
        entry.reason,
        entry.actor['id'],
        entry.metadata,
      ]);
    const entry = (count: number) => ['createTag', 'FORBIDDEN', 'NO_PERMISSION', key.id, { count }];
    expect(await refused()).toEqual([entry(1)]);
    app.clock.advance(61_000);
    await knock(token);
    expect(await refused()).toEqual([entry(1), entry(2), entry(1)]);
  });
});
