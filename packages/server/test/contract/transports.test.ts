import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import type { Tenant } from '../../src/kernel/scope.ts';
import { operations } from '../../src/operations.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import type { Answer, Via } from '../support/app/client.ts';
import { nounOf, sampleInput } from './sample.ts';
import { house, isOfInstallation, type House } from './world.ts';

/**
 * REST and GraphQL return the same result for every operation. Two services have equal rows: one is called over REST,
 * the other over GraphQL, in each kind of scope. The calls are generated from the declarations.
 */
interface Twin extends House {
  readonly app: TestApp;
}
let twins: Readonly<Record<Via, Twin>>;

const twin = async (): Promise<Twin> => {
  const app = await startOwnApp();
  return { app, ...(await house(app)) };
};
beforeAll(async () => {
  twins = { rest: await twin(), graphql: await twin() };
});
afterAll(async () => {
  for (const { app } of Object.values(twins)) await app.close();
});

/** Without `register`: the specification makes it return only the sign-in over REST. */
const common = operations.filter(
  (op) => op.only !== 'rest' && op.name !== 'register' && !isOfInstallation(op),
);
/** Deletions run last, because the other operations need the rows. */
const rank = ({ name }: NamedOperation): number =>
  ['deleteMe', 'logout'].includes(name) ? 2 : /^(delete|remove|revoke|leave)/.test(name) ? 1 : 0;
const ordered = common.toSorted((a, b) => rank(a) - rank(b));

const scopesOf = ({ scoped, tenants = [] }: NamedOperation): readonly (Tenant | undefined)[] =>
  scoped ? tenants.filter((tenant) => tenant !== 'installation') : [undefined];

/** Values that differ between equal rows. */
const changing: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>'],
  [/^W[\w-]+\.[\w-]{22}$/g, '<cursor>'],
  [/-----BEGIN PUBLIC KEY-----[^]*/g, '<key>'],
  [/(dw[a-z]|whsec)_[\w+/=-]+|[\w-]{43,}/g, '<secret>'],
  [/\b[0-9a-f]{10,64}\b/g, '<unique>'],
  [/\b[A-Z2-7]{32}\b|\b[B-Z]{4}-[B-Z]{4}\b/g, '<code>'],
];

const constant = (value: unknown): unknown =>
  typeof value === 'string'
    ? changing.reduce((text, [pattern, word]) => text.replace(pattern, word), value)
    : (value ?? undefined);

/** The result to compare. Null counts as absent, because GraphQL returns null for members that REST omits. */
function result({ ok, code, reason, details, data }: Answer): unknown {
  const text = JSON.stringify({ ok, code, reason, details, data }, (_, value: unknown) => constant(value));
  // Member names contain unique values too.
  return JSON.parse(text.replace(/\b[0-9a-f]{10}\b/g, '<unique>'));
}

let succeeded = 0;

it.each(ordered.map((op) => [op.name, op] as const))('%s', async (_, op) => {
  for (const tenant of scopesOf(op)) {
    const call = (via: Via) => {
      const { app, person, places } = twins[via];
      const place = places[tenant ?? 'account'];
      const rows = (noun: string) => place.rows[noun]?.live[0];
      const input = sampleInput(op, tenant && place.scope, {
        id: rows(nounOf(op)) ?? person.userId,
        userId: person.userId,
        resourceId: rows('Resource'),
      });
      return app.raw(op.name, input, { via, token: person.token });
    };
    const [overRest, overGraphql] = [await call('rest'), await call('graphql')];
    expect(result(overGraphql), tenant).toEqual(result(overRest));
    if (overRest.ok) succeeded++;
  }
});

it('most calls succeed', () => {
  expect(succeeded).toBeGreaterThan(common.length);
});
