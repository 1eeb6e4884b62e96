import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import type { Person } from '../support/app/client.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';

/** The `fix` of each error detail says what the caller has to change. */
let app: TestApp;
let ada: Person;
let scope: ScopeRef;
let permission: { resourceId: string; action: string };
beforeAll(async () => {
  app = await startApp();
  ada = await app.person();
  ({ scope } = await app.must('createProject', { scope: ada.account, name: 'P' }, { token: ada.token }));
  const invoice = { scope, name: 'Invoice', slug: 'invoice', actions: ['read'] };
  const { id } = await app.must('createResource', invoice, { token: ada.token });
  permission = { resourceId: id, action: 'read' };
});
afterAll(() => app.close());

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const fixOf = async (name: string, input: object): Promise<string> => {
    const answer = await app.raw(name, input, { via, token: ada.token });
    expect(answer.ok).toBe(false);
    return /"fix":"((?:[^"\\]|\\.)*)"/.exec(answer.body)?.[1] ?? '';
  };

  test('lists the values of an enum', async () => {
    const requested = { ...ada.account, tenant: 'nope-secret' };
    const fix = await fixOf('createTag', { scope: requested, name: 'a' });
    expect(fix).toMatch(/[Uu]se one of: .*accountProject.*organizationProject/);
    expect(fix).not.toContain('secret');
    const hook = { scope, url: 'https://example.test/', eventTypes: ['role.craeted'] };
    expect(await fixOf('createWebhookSubscription', hook)).toMatch(/^Use one of: role\.created, .*…\.$/);
  });

  test('lists the operators, and the roots of a path', async () => {
    const condition = (value: object) =>
      fixOf('createPermission', { scope, ...permission, condition: value });
    expect(await condition({ Equal: { 'user.id': 'x' } })).toMatch(
      /^Use one of: And, Or, Not, Equals, .*NumericLessThanEquals\.$/,
    );
    expect(await condition({ Equals: { 'customer.id': 'x' } })).toMatch(
      /^Begin with user\., role\., group\., organization\., scope\., resource\. and name an attribute/,
    );
  });
});

test('names the expected type', async () => {
  const answer = await app.raw('createTag', { scope: ada.account, name: 3 }, { token: ada.token });
  expect(answer.body).toContain('"fix":"Send a string."');
});
