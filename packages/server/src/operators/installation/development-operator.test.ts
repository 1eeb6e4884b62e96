import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { INSTALLATION_OPERATOR, installationRoleIdOf } from '../../access/installation-roles.ts';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { firstOperator, installation, operatorEnvironment } from '../../../test/support/tenants/operators.ts';
import { operatorsTable, preparedOperators } from '../../schema/operators/operator.ts';

/** The first user of a development installation has an operator row, which production ignores. */
const reason = 'They join the team today';
const SUPPORT = installationRoleIdOf('Installation Support');

let development: TestApp;
let production: TestApp;
let operator: Person;
let first: Person;

beforeAll(async () => {
  development = await startOwnApp({ ...operatorEnvironment });
  operator = await firstOperator(development);
  const { factor, secret } = await development.must('createMfaFactor', {}, { token: operator.token });
  const code = codeShown(secret, development.clock.now());
  await development.must('verifyMfaFactor', { id: factor.id, code }, { token: operator.token });
  first = await development.person();
  const environment = {
    NODE_ENV: 'production',
    APP_URL: 'http://localhost:4000',
    APP_URL_ALLOW_HTTP: 'true',
    MAIL_CONSOLE_IN_PRODUCTION: 'true',
  };
  production = await startOwnApp({ ...operatorEnvironment, ...environment }, development);
});
afterAll(async () => {
  await production.close();
  await development.close();
});

beforeEach(async () => {
  const row = { userId: first.userId, roleId: INSTALLATION_OPERATOR, source: 'development' } as const;
  for (const { owner } of [development, production]) {
    await owner.delete(operatorsTable);
    await owner.insert(operatorsTable).values(row);
  }
});

const rolesOfFirst = async (app: TestApp) => {
  const { items } = await app.must('operators', { scope: installation }, { token: operator.token });
  return items.filter(({ userId }) => userId === first.userId).map(({ source, role }) => [source, role.id]);
};

test.each(storyTransports(import.meta))('an operator makes them one over %s, with any role', async (via) => {
  expect(await rolesOfFirst(production)).toEqual([]);
  const input = { scope: installation, userId: first.userId, roleId: SUPPORT, reason };
  const as = { token: operator.token, via };
  const added = await production.must('createOperator', input, as);
  expect(added).toMatchObject({ source: 'api', createdBy: operator.userId, role: { id: SUPPORT } });
  expect(await rolesOfFirst(production)).toEqual([['api', SUPPORT]]);
  expect(await production.raw('createOperator', input, as)).toMatchObject({ code: 'CONFLICT' });
});

test.each(storyTransports(import.meta))('where they count, they are one already, over %s', async (via) => {
  const input = { scope: installation, userId: first.userId, roleId: SUPPORT, reason };
  const answer = await development.raw('createOperator', input, { token: operator.token, via });
  expect(answer).toMatchObject({ code: 'CONFLICT' });
  expect(await rolesOfFirst(development)).toEqual([['development', INSTALLATION_OPERATOR]]);
});

test('an address that the command line has prepared makes them one', async () => {
  const expiresAt = new Date(development.clock.now().getTime() + 86_400_000);
  await production.owner
    .insert(preparedOperators)
    .values({ address: first.email, roleId: SUPPORT, reason, expiresAt });
  await production.app.recordOperators();
  expect(await rolesOfFirst(production)).toEqual([['commandLine', SUPPORT]]);
});
