import { roleIdOf } from '../../../../server/src/schema/rights/built-in-ids.ts';
import { freePort } from '../../../../../scripts/service.ts';
import { startApp, type TestApp } from '../../../../server/test/support/app/app.ts';
import type { Person } from '../../../../server/test/support/app/client.ts';
import type { Scope } from '../../../src/contracts/types.ts';

/** The service on a real socket, with a project of orders: tokens that may read orders of `eu`, and tokens that may not. */
export interface Shop {
  readonly app: TestApp;
  readonly url: string;
  readonly owner: Person;
  readonly scope: Scope;
  /** Credentials of the application itself: those of an admin of the project. */
  readonly credentials: { readonly clientId: string; readonly clientSecret: string };
  readonly tokens: {
    /** Holds `order:read` for orders of the region `eu`, and nothing else. */
    readonly clerk: string;
    readonly stranger: string;
    readonly expired: string;
    /** The clerk's, with other bytes as signature. */
    readonly forged: string;
    /** Of the owner of the project. */
    readonly session: string;
  };
  readonly clerkKeyId: string;
  readonly close: () => Promise<void>;
}

const HOUR_MS = 3_600_000;

export async function openShop(): Promise<Shop> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const app = await startApp({ APP_URL: url });
  await app.server.listen({ port, host: '127.0.0.1' });

  const owner = await app.person();
  const as = { token: owner.token };
  const { id: projectId } = await app.must('createProject', { scope: owner.account, name: 'Shop' }, as);
  const scope: Scope = { tenant: 'accountProject', id: `${owner.account.id}:${projectId}` };
  const { id: resourceId } = await app.must(
    'createResource',
    { scope, name: 'Order', slug: 'order', actions: ['read', 'approve'] },
    as,
  );
  const condition = { Equals: { 'resource.region': 'eu' } };
  const read = await app.must('createPermission', { scope, resourceId, action: 'read', condition }, as);
  await app.must('createPermission', { scope, resourceId, action: 'approve' }, as);
  const group = await app.must('createGroup', { scope, name: 'Readers', permissionIds: [read.id] }, as);
  const clerk = await app.must('createRole', { scope, name: 'Clerk', groupIds: [group.id] }, as);
  const nothing = await app.must('createRole', { scope, name: 'Nothing' }, as);

  const keyOf = async (name: string, roleId: string) => {
    const { id, clientId, clientSecret } = await app.must('createApiKey', { scope, name, roleId }, as);
    return { id, clientId, clientSecret: clientSecret ?? '' };
  };
  const tokenOf = async ({ clientId, clientSecret }: Shop['credentials']) =>
    (await app.must('exchangeApiKey', { clientId, clientSecret, scope })).accessToken;

  const clerkKey = await keyOf('clerk', clerk.id);
  const clerkToken = await tokenOf(clerkKey);
  const [header, payload, signature = ''] = clerkToken.split('.');
  app.clock.advance(-2 * HOUR_MS);
  const expired = await tokenOf(clerkKey);
  app.clock.advance(2 * HOUR_MS);
  const { id: _, ...credentials } = await keyOf('the application', roleIdOf('Project Admin'));
  return {
    app,
    url,
    owner,
    scope,
    credentials,
    tokens: {
      clerk: clerkToken,
      stranger: await tokenOf(await keyOf('stranger', nothing.id)),
      expired,
      forged: [header, payload, [...signature].reverse().join('')].join('.'),
      session: owner.token,
    },
    clerkKeyId: clerkKey.id,
    close: () => app.close(),
  };
}
