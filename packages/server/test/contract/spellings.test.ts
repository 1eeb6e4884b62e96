/** The same text in another spelling is found, and a number that would be stored with other digits is refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { unique, type Person } from '../support/app/client.ts';

let app: TestApp;
let owner: Person;
let organization: ScopeRef;
beforeAll(async () => {
  app = await startApp();
  owner = await app.person({ type: 'organization' });
  const created = await app.must(
    'createOrganization',
    { scope: owner.account, name: 'Spellings' },
    { token: owner.token },
  );
  organization = { tenant: 'organization', id: created.id };
});
afterAll(() => app.close());

describe('a search', () => {
  it.each([
    ['decomposed letters', 'Café', 'cafe\u0301'],
    ['other case', 'Ördek', 'öRDEK'],
    ['spaces around it', 'Menu', ' menu '],
  ])('finds a name by %s', async (_, name, search) => {
    const as = { token: owner.token };
    const scope = organization;
    await app.must('createTag', { scope, name }, as);
    const { items } = await app.must('tags', { scope, search }, as);
    expect(items.map((tag) => tag.name)).toEqual([name]);
  });

  it.each(['bücher.example', 'BÜCHER.EXAMPLE', 'anna@bücher.example', 'anna@bu\u0308cher', 'xn--bcher-kva'])(
    'finds an internationalized address by %s',
    async (search) => {
      const scope = organization;
      const email = `anna@bücher.example`;
      const as = { token: owner.token };
      await app.call('inviteMember', { scope, email, roleId: roleIdOf('Organization Viewer') }, as);
      const { items } = await app.must('organizationInvitations', { scope, search }, as);
      expect(items.map((invitation) => invitation.email)).toEqual(['anna@xn--bcher-kva.example']);
    },
  );
});

describe('metadata with an integer that JSON readers round', () => {
  const at = (path: string) => ({
    code: 'VALIDATION_ERROR',
    details: [expect.objectContaining({ path, code: 'too_big' })],
  });
  const digits = '12345678901234567890';

  it.each(['rest', 'graphql'] as const)('is refused as a value over %s', async (via) => {
    const input = { scope: organization, name: unique(), metadata: { a: [{ id: Number(digits) }] } };
    const answer = await app.call('createRole', input, { token: owner.token, via });
    expect(answer.body).toContain('Send a number of so many digits as text.');
    expect(answer).toMatchObject(at('metadata.a.0.id'));
  });

  it('is refused as a literal in GraphQL', async () => {
    const scope = `{ tenant: organization, id: "${organization.id}" }`;
    const query = `mutation { createRole(input: { scope: ${scope}, name: "R", metadata: { id: ${digits} } }) { id } }`;
    const answer = await app.server.inject({
      method: 'POST',
      url: '/graphql',
      headers: { authorization: `Bearer ${owner.token}` },
      payload: { query },
    });
    expect(answer.body).toContain('"too_big"');
    expect(answer.body).toContain('metadata.id');
  });

  it('keeps its digits as text', async () => {
    const input = { scope: organization, name: unique(), metadata: { id: digits } };
    const role = await app.must('createRole', input, { token: owner.token });
    expect(role.metadata).toEqual({ id: digits });
  });
});
