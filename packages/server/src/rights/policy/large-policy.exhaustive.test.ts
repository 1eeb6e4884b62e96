import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rowsOf } from '../../db/statements/rows.ts';
import { isFraming, startApp, type TestApp } from '../../../test/support/app/app.ts';

/** A large policy needs as many statements as a small one. */
let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
function policyOf(roles: number, permissions: number, apps: number) {
  const actions = numbers(50).map((index) => `a${index}`);
  const resources = numbers(Math.ceil(permissions / 50)).map((index) => [`r${index}`, { actions }]);
  const names = numbers(permissions).map((index) => `r${Math.floor(index / 50)}:a${index % 50}`);
  const groups = numbers(roles).map((index) => {
    const held = numbers(5).map((at) => names[(5 * index + at) % permissions]);
    return [`G${index}`, { permissions: held }];
  });
  const confidential = { redirectUris: ['https://app.example.test/'], signUpRole: 'R0', confidential: true };
  // None of the events of the application, whose deliveries would count too.
  const webhook = { url: 'https://hooks.example.test/', eventTypes: ['user.created'] };
  return {
    version: 1,
    apps: Object.fromEntries(numbers(apps).map((index) => [`A${index}`, confidential])) as object,
    webhooks: Object.fromEntries(numbers(apps).map((index) => [`W${index}`, webhook])) as object,
    resources: Object.fromEntries(resources) as object,
    permissions: Object.fromEntries(names.map((name) => [name, {}])) as object,
    groups: Object.fromEntries(groups) as object,
    roles: Object.fromEntries(
      numbers(roles).map((index) => [`R${index}`, { groups: [`G${index}`] }]),
    ) as object,
  };
}

interface Cost {
  readonly statements: number;
  readonly seconds: number;
}

async function costs(policy: object): Promise<{ plan: Cost; apply: Cost }> {
  const owner = await app.person();
  const as = { token: owner.token };
  const { id, scope } = await app.must('createProject', { scope: owner.account, name: 'P' }, as);
  const input = { id, scope, policy: policy as never };
  const count = async (work: () => Promise<unknown>): Promise<Cost> => {
    const began = performance.now();
    const statements = await app.spent(work);
    const seconds = (performance.now() - began) / 1000;
    return { statements: statements.filter((text) => !isFraming(text)).length, seconds };
  };
  const plan = await count(() => app.must('planPolicy', input, as));
  const apply = await count(() => app.must('applyPolicy', input, as));
  const [chain] = await rowsOf<{ entries: number; last: number }>(
    app.database.pool,
    sql`select count(*)::int as entries, max(sequence)::int as last from audit_log where tenant_id = ${id}::uuid`,
  );
  expect(chain?.last).toBe(chain?.entries);
  return { plan, apply };
}

it('of 1,000 roles, 5,000 permissions, 50 apps and 50 webhooks costs no statement for each row', async () => {
  const small = await costs(policyOf(5, 50, 1));
  const large = await costs(policyOf(1000, 5000, 50));
  expect(large.plan.statements).toBeLessThanOrEqual(small.plan.statements + 5);
  // The recorder writes a thousand entries at a time.
  expect(large.apply.statements).toBeLessThanOrEqual(small.apply.statements + 30);
  const [plan, apply] = [large.plan, large.apply].map(({ seconds }) => seconds.toFixed(2));
  process.stdout.write(`large policy on ${app.database.mode}: planned in ${plan} s, applied in ${apply} s\n`);
}, 120_000);
