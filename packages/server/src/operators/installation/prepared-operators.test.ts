import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installationRoleIdOf } from '../../access/installation-roles.ts';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { firstOperator, installation, operatorEnvironment } from '../../../test/support/tenants/operators.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { preparedOperators } from '../../schema/operators/operator.ts';

/** Operators whom the command line named before they verified their address. The commands are in `packages/cli`. */
let app: TestApp;
let operator: Person;
beforeAll(async () => {
  app = await startOwnApp({ ...operatorEnvironment });
  operator = await firstOperator(app);
});
afterAll(() => app.close());

const support = installationRoleIdOf('Installation Support');
const prepare = (address: string, days = 7) =>
  app.database.pool.insert(preparedOperators).values({
    address,
    roleId: support,
    reason: 'They join the support team',
    expiresAt: new Date(app.clock.now().getTime() + days * 86_400_000),
  });
const sourcesOf = async (userId: string) => {
  const { items } = await app.must('operators', { scope: installation }, { token: operator.token });
  return items.filter((each) => each.userId === userId).map(({ source, role }) => [source, role.id]);
};

test('an address counts when its user has verified it, and not before', async () => {
  await prepare('ada@example.test');
  const ada = await app.person({ email: 'ada@example.test', verified: false });
  await app.app.recordOperators();
  expect(await sourcesOf(ada.userId)).toEqual([]);
  await app.must('resendVerification', { email: 'ada@example.test' });
  await app.must('verifyEmail', { token: await app.mailedToken('ada@example.test') });
  await app.app.recordOperators();
  expect(await sourcesOf(ada.userId)).toEqual([['commandLine', support]]);
  expect(await app.database.pool.select().from(preparedOperators)).toEqual([]);
  const [entry] = await app.database.pool
    .select()
    .from(auditLog)
    .where(eq(auditLog.operation, 'appointOperator'));
  expect(entry).toMatchObject({
    event: 'operator.added',
    actor: expect.objectContaining({ type: 'system' }) as object,
    target: expect.objectContaining({ id: ada.userId }) as object,
  });
  // A second pass changes nothing.
  await app.app.recordOperators();
  expect(await sourcesOf(ada.userId)).toHaveLength(1);
});

test('an address does not count while its user is suspended', async () => {
  const as = { token: operator.token };
  const { userId } = await app.person({ email: 'mary@example.test' });
  const about = { scope: installation, id: userId, reason: 'Under review' };
  await app.must('suspendUser', about, as);
  await prepare('mary@example.test');
  await app.app.recordOperators();
  expect(await sourcesOf(userId)).toEqual([]);
  await app.must('reactivateUser', about, as);
  await app.app.recordOperators();
  expect(await sourcesOf(userId)).toEqual([['commandLine', support]]);
});

test.each(storyTransports(import.meta))(
  'an operator removes over %s whom the command line has made',
  async (via) => {
    const email = `grace-${via}@example.test`;
    await prepare(email);
    const { userId } = await app.person({ email });
    await app.app.recordOperators();
    expect(await sourcesOf(userId)).toHaveLength(1);
    const sent = { scope: installation, userId, reason: 'They have left the team' };
    const removed = await app.must('deleteOperator', sent, { token: operator.token, via });
    expect(removed.source).toBe('commandLine');
    expect(await sourcesOf(userId)).toEqual([]);
  },
);

test('an address counts for a week only', async () => {
  await prepare('lin@example.test', 7);
  app.clock.advance(7 * 86_400_000 + 1000);
  const { userId } = await app.person({ email: 'lin@example.test' });
  await app.app.recordOperators();
  await app.purge();
  expect(await app.database.pool.select().from(preparedOperators)).toEqual([]);
  const again = await app.must('login', {
    provider: 'email',
    providerId: operator.email,
    providerData: { password: operator.password },
  });
  if (!('accessToken' in again)) throw new Error('the operator did not sign in');
  const { items } = await app.must('operators', { scope: installation }, { token: again.accessToken });
  expect(items.some((each) => each.userId === userId)).toBe(false);
});
