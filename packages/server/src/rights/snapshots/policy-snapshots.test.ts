import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Config } from '../../config/config.ts';
import type { Changes } from '../../db/cache/changes.ts';
import { fail } from '../../errors.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { createPolicySnapshots } from './policy-snapshots.ts';
import type { Poll, PolicySnapshots } from '../../access/policy-snapshots.ts';

/** What happens to the caller of a poll while the answer is made. The change channel and the key are ports. */
let app: TestApp;
let scope: ResolvedScope;
let snapshots: PolicySnapshots;
let isPermitted: boolean;

/** What waits until the test lets it go on. */
const gates = { confirm: Promise.resolve(), sign: Promise.resolve() };
const entered = { confirm: (): void => undefined, sign: (): void => undefined };

beforeAll(async () => {
  app = await startApp();
  const owner = await app.person();
  const project = await app.must(
    'createProject',
    { scope: owner.account, name: 'P' },
    { token: owner.token },
  );
  const parentId = owner.account.id;
  scope = {
    ...{
      tenant: 'accountProject',
      id: project.scope.id,
      nodeId: project.id,
      parentId,
      projectId: project.id,
    },
    ...{ accountId: parentId, organizationId: null, userId: null, level: 'project' },
    ...{
      userInProject: true,
      accountType: null,
      requireMfa: false,
      supportAccess: true,
      enforcedDomains: [],
      isSuspended: false,
      rootId: parentId,
    },
    ...{ grant: null, organizationMetadata: null },
  };
});
afterAll(() => app.close());

beforeEach(() => {
  isPermitted = true;
  gates.confirm = gates.sign = Promise.resolve();
  const changes: Partial<Changes> = {
    isTrusted: () => true,
    onChange: () => () => undefined,
    async confirm() {
      entered.confirm();
      await gates.confirm;
      return { below: null };
    },
  };
  const keyring = {
    async signDocument() {
      entered.sign();
      await gates.sign;
      return 'document';
    },
  };
  const config = { tokens: { accessTokenMinutes: 15 }, http: { maxConnections: 100 } } as Config;
  snapshots = createPolicySnapshots(
    { nouns: new Set() },
    {
      ...{ database: app.database, changes: changes as Changes, clock: app.clock, keyring, config },
      revisions: { seal: () => 'revision' },
    },
  );
  return () => snapshots.stop();
});

const poll: Poll = {
  since: 'unknown',
  timeoutMs: 0,
  credential: 'credential',
  assertPermitted: async () => {
    if (!isPermitted) throw fail('FORBIDDEN');
  },
  chargeRead: () => undefined,
  onGone: () => () => undefined,
};

it('a poll is answered to a caller who may have the answer', async () => {
  expect(String(await snapshots.changes(scope, 'all', poll))).toBe('document');
});

it.each(['confirm', 'sign'] as const)(
  'a caller who lost the right meanwhile gets no answer: %s',
  async (at) => {
    const waiting = new Promise<void>((resolve) => (entered[at] = resolve));
    let open = (): void => undefined;
    gates[at] = new Promise((resolve) => (open = resolve));
    const answer = snapshots.changes(scope, 'all', poll);
    answer.catch(() => undefined);
    await waiting;
    isPermitted = false;
    open();
    await expect(answer).rejects.toMatchObject({ code: 'FORBIDDEN' });
  },
);
