import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { transports, type Person } from '../../../test/support/app/client.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Many questions in one call: each is answered as if it were asked alone, in its place, and counted. */
let app: TestApp;
let owner: Person;
let scope: ScopeRef;
let reader: string;
let readers: Record<'session' | 'key', string>;

const mine = { Equals: { 'resource.ownerId': 'me' } };

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
  const as = { token: owner.token };
  ({ scope } = await app.must('createProject', { scope: owner.account, name: 'P' }, as));
  const resource = await app.must(
    'createResource',
    { scope, name: 'Invoice', slug: 'invoice', actions: ['read', 'change', 'void'] },
    as,
  );
  const permissionIds: string[] = [];
  for (const [action, condition] of [
    ['read', null],
    ['change', mine],
  ] as const)
    permissionIds.push(
      (await app.must('createPermission', { scope, resourceId: resource.id, action, condition }, as)).id,
    );
  const group = await app.must('createGroup', { scope, name: 'G', permissionIds }, as);
  const role = await app.must('createRole', { scope, name: 'Reader', groupIds: [group.id] }, as);
  reader = (await app.must('createUser', { scope, name: 'Rita', roleIds: [role.id] }, as)).id;
  readers = { session: owner.token, key: await keyToken(scope, role.id) };
});
afterAll(() => app.close());

async function keyToken(of: ScopeRef, roleId: string): Promise<string> {
  const as = { token: owner.token };
  const key = await app.must('createApiKey', { scope: of, roleId }, as);
  const { clientId, clientSecret } = key;
  const exchange = { clientId, clientSecret: clientSecret as string, scope: key.scope };
  return (await app.must('exchangeApiKey', exchange)).accessToken;
}

const ask = (resource: string, action: string, attributes?: Record<string, unknown>) => ({
  permission: { resource, action },
  ...(attributes && { context: { resource: attributes } }),
});
const questions = [
  ask('invoice', 'read'),
  ask('invoice', 'change', { ownerId: 'me' }),
  ask('invoice', 'change', { ownerId: 'you' }),
  ask('invoice', 'change'),
  ask('invoice', 'void'),
  ask('nothing', 'read'),
  ask('Role', 'Query'),
  ask(' INVOICE', 'Read '),
];
const reasons = [
  'ALLOWED',
  'ALLOWED_BY_CONDITION',
  'CONDITION_NOT_MET',
  'CONDITION_NOT_MET',
  'NO_PERMISSION',
  'NO_PERMISSION',
  'NO_PERMISSION',
  'ALLOWED',
];

interface Item {
  readonly authorized: boolean;
  readonly reason: string;
  readonly matchedPermission?: { readonly name: string } | null;
}

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const batch = async (input: object, token: string): Promise<Item[]> => {
    const answer = await app.raw('isAuthorizedBatch', input, { via, token });
    if (!answer.ok) throw new Error(answer.body);
    return (answer.data as { items: Item[] }).items;
  };
  const reported = (items: readonly Item[]) => items.map(({ reason }) => reason);

  it('answers in the order asked, each as if it were asked alone', async () => {
    const about = { scope, subject: { userId: reader } };
    for (const [input, token] of [
      [about, readers.session],
      [{}, readers.key],
    ] as const) {
      const items = await batch({ ...input, items: questions }, token);
      expect(reported(items)).toEqual(reasons);
      for (const [index, question] of questions.entries()) {
        const alone = await app.raw('isAuthorized', { ...input, ...question }, { via, token });
        const { authorized, reason, matchedPermission } = alone.data as Item;
        expect(items[index]).toMatchObject({
          authorized,
          reason,
          ...(matchedPermission && { matchedPermission }),
        });
      }
    }
  });

  it('merges nothing: what one question brings another does not see, and the same one is answered twice', async () => {
    const [met, bare] = [ask('invoice', 'change', { ownerId: 'me' }), ask('invoice', 'change')];
    const items = await batch({ items: [met, bare, met, bare] }, readers.key);
    expect(items.map(({ authorized }) => authorized)).toEqual([true, false, true, false]);
  });

  it('takes 1 to 100 questions, each within the caps of one', async () => {
    const hundred = Array.from({ length: 100 }, (_, index) => questions[index % 8] as object);
    const items = await batch({ items: hundred }, readers.key);
    expect(reported(items)).toEqual(hundred.map((_, index) => reasons[index % 8]));
    let deep: unknown = 1;
    for (let i = 0; i < 12; i++) deep = { deep };
    for (const [requested, detail] of [
      [[], { path: 'items', code: 'too_short' }],
      [[...hundred, hundred[0]], { path: 'items', code: 'too_long' }],
      [[questions[0], ask('invoice', 'read', deep as Record<string, unknown>)], { code: 'too_deep' }],
    ] as const) {
      const answer = await app.raw('isAuthorizedBatch', { items: requested }, { via, token: readers.key });
      expect(answer).toMatchObject({ code: 'VALIDATION_ERROR', details: [detail] });
    }
  });

  it('answers every question of a foreign scope alike', async () => {
    const foreign = { tenant: 'organization', id: '5f0c7b0e-8a0b-4f43-9d55-2f1f6a1f0a11' };
    const items = await batch({ scope: foreign, items: questions.slice(0, 3) }, owner.token);
    expect(reported(items)).toEqual(Array(3).fill('INVALID_SCOPE'));
    const answer = await app.raw('isAuthorizedBatch', { items: questions }, { via, token: owner.token });
    expect(answer.code).toBe('SCOPE_REQUIRED');
  });

  it('decides about another user only for callers who may check, and does not reveal unknown users', async () => {
    const viewer = await keyToken(scope, roleIdOf('Project Viewer'));
    const items = questions.slice(0, 2);
    const refused = await app.raw(
      'isAuthorizedBatch',
      { items, subject: { userId: reader } },
      { via, token: viewer },
    );
    expect(refused).toMatchObject({ code: 'FORBIDDEN', reason: 'NO_PERMISSION' });
    const stranger = await app.person();
    for (const userId of [stranger.userId, '5f0c7b0e-8a0b-4f43-9d55-2f1f6a1f0a11'])
      expect(reported(await batch({ scope, subject: { userId }, items }, owner.token))).toEqual(
        items.map(() => 'SUBJECT_INACTIVE'),
      );
  });

  it('decides in the scope of one user as for that user, and about no other', async () => {
    const own = (userId: string): ScopeRef => ({
      tenant: 'projectUser',
      id: `${scope.id.split(':')[1]}:${userId}`,
    });
    const items = [ask('Role', 'Query'), ask('ApiKey', 'Create'), ask('invoice', 'read')];
    const about = (userId: string, of: ScopeRef) =>
      batch({ scope: of, subject: { userId }, items }, owner.token);
    expect(await about(owner.userId, own(owner.userId))).toEqual(
      await batch({ scope: own(owner.userId), items }, owner.token),
    );
    expect(reported(await about(reader, own(owner.userId)))).toEqual(items.map(() => 'NO_PERMISSION'));
    expect(reported(await about(reader, scope))).toEqual(['NO_PERMISSION', 'NO_PERMISSION', 'ALLOWED']);
  });
});

describe('the limit', () => {
  it('counts one for each question, in the class of single ones and not in that of other calls', async () => {
    const limited = await startApp({ SECURITY_RATE_LIMIT_CHECK_MAX: '10' });
    const someone = await limited.person();
    const question = ask('Role', 'Query');
    const as = { token: someone.token };
    const items = (count: number) => ({
      scope: someone.account,
      items: Array(count).fill(question) as object[],
    });
    const left = ({ headers }: { headers: Record<string, unknown> }) => String(headers['ratelimit']);
    const single = { scope: someone.account, ...question };
    expect(left(await limited.raw('isAuthorizedBatch', items(4), as))).toMatch(/^"check";r=6;/);
    expect(left(await limited.raw('isAuthorized', single, as))).toMatch(/^"check";r=5;/);
    expect(left(await limited.raw('isAuthorizedBatch', items(5), as))).toMatch(/^"check";r=0;/);
    for (const via of transports) {
      const more = await limited.raw('isAuthorizedBatch', items(1), { ...as, via });
      expect(more.code).toBe('RATE_LIMITED');
    }
    // A batch that does not fit is refused whole.
    const other = await limited.person();
    const input = { ...items(11), scope: other.account };
    expect((await limited.raw('isAuthorizedBatch', input, { token: other.token })).code).toBe('RATE_LIMITED');
    await limited.close();
  });
});
