import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Networks of keys that were created or rotated by a key with allowed networks. */
const HERE = '127.0.0.0/8';
const ELSEWHERE = '198.51.100.0/24';

let app: TestApp;
let owner: Person;
let scope: ScopeRef;
beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
  ({ scope } = await app.must('createProject', { scope: owner.account, name: 'P' }, { token: owner.token }));
});
afterAll(() => app.close());

async function keyOf(allowedCidrs: readonly string[]) {
  const key = await app.must(
    'createApiKey',
    { scope, allowedCidrs: [...allowedCidrs] },
    { token: owner.token },
  );
  return { id: key.id, ...pairOf(key), scope: key.scope };
}
const pairOf = ({ clientId, clientSecret }: { clientId: string; clientSecret: string | null }) => ({
  clientId,
  clientSecret: clientSecret ?? '',
});
const exchange = ({ clientId, clientSecret, scope: own }: Awaited<ReturnType<typeof keyOf>>) =>
  app.call('exchangeApiKey', { clientId, clientSecret, scope: own });

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const tokenFor = async (allowedCidrs: readonly string[]) => ({
    token: (await exchange(await keyOf(allowedCidrs))).data.accessToken,
    via,
  });

  it('a key passes on its networks, or some of them', async () => {
    const as = await tokenFor([HERE, ELSEWHERE]);
    expect((await app.must('createApiKey', { scope }, as)).allowedCidrs).toEqual([HERE, ELSEWHERE]);
    const narrower = ['127.0.0.1/32', '198.51.100.0/25', '127.0.0.1/32'];
    const made = await app.must('createApiKey', { scope, allowedCidrs: narrower }, as);
    expect(made.allowedCidrs).toEqual(narrower.slice(0, 2));
  });

  it('and no others, nor all', async () => {
    const as = await tokenFor([HERE]);
    const wider = await app.call('createApiKey', { scope, allowedCidrs: [HERE, ELSEWHERE] }, as);
    expect(wider.code).toBe('PRIVILEGE_ESCALATION');
    expect(wider.details).toMatchObject([{ path: 'allowedCidrs.1', code: 'not_allowed' }]);
    const any = await app.call('createApiKey', { scope, allowedCidrs: [] }, as);
    expect(any.code).toBe('PRIVILEGE_ESCALATION');
    expect(any.details).toMatchObject([{ path: 'allowedCidrs', code: 'not_allowed' }]);
  });

  it('has any networks if its creator is not restricted', async () => {
    const as = await tokenFor([]);
    expect((await app.must('createApiKey', { scope }, as)).allowedCidrs).toEqual([]);
    expect((await app.must('createApiKey', { scope, allowedCidrs: [ELSEWHERE] }, as)).allowedCidrs).toEqual([
      ELSEWHERE,
    ]);
  });

  it('keeps its networks in a rotation if they lie within those of the calling key', async () => {
    const as = await tokenFor([HERE]);
    const rotated = async (before: string[], options: { token: string; via: typeof via }) => {
      const { id } = await keyOf(before);
      return (await app.must('rotateApiKey', { scope, id }, options)).allowedCidrs;
    };
    expect(await rotated(['127.0.0.1/32'], as)).toEqual(['127.0.0.1/32']);
    expect(await rotated([], as)).toEqual([HERE]);
    expect(await rotated(['127.0.0.1/32', ELSEWHERE], as)).toEqual([HERE]);
    expect(await rotated([ELSEWHERE], { token: owner.token, via })).toEqual([ELSEWHERE]);
    expect(await rotated([ELSEWHERE], await tokenFor([]))).toEqual([ELSEWHERE]);
  });

  it('works from no other network afterwards, also with tokens issued before', async () => {
    const free = await keyOf([]);
    const { accessToken: before } = (await exchange(free)).data;
    const from = async (address: string) => {
      const query = `tenant=${scope.tenant}&scopeId=${scope.id}`;
      const headers = { authorization: `Bearer ${before}` };
      return (await app.server.inject({ url: `/api/tags?${query}`, headers, remoteAddress: address }))
        .statusCode;
    };
    expect(await from('198.51.100.7')).toBe(200);
    await app.must('rotateApiKey', { scope, id: free.id }, await tokenFor([HERE]));
    expect(await from('198.51.100.7')).toBe(401);
    expect(await from('127.0.0.1')).toBe(200);
  });
});
