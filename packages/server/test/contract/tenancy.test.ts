import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../src/operations.ts';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { combinations, isWhole } from '../support/cases/breadth.ts';
import { transports, type Answer, type Via } from '../support/app/client.ts';
import { idMembers, sampleInput } from './sample.ts';
import { digest, house, nounOf, nowhere, type House } from './world.ts';

/**
 * The tenancy matrix: every operation with a scope, in each kind of foreign scope, with own and foreign rows, by a
 * session, by a key of a project, of an account and of an organization, over both transports. The call must get the same
 * bytes as one in a scope that never existed, so that it discloses nothing; and no table of the database may have changed.
 * The fast suite covers the matrix pairwise.
 */
const foreign = ['account', 'organization', 'accountProject', 'organizationProject'] as const;
/** Only these have a path, which is the scope of an AuthZEN endpoint. */
const projects = ['accountProject', 'organizationProject'] as const;
const scoped = operations.filter((op) => op.scoped);

let app: TestApp;
/** The account of the caller. */
let alice: House;
/** The account that owns the foreign scopes. */
let mallory: House;
let before: Record<string, string>;
let requested = 0;
let refused = 0;

beforeAll(async () => {
  app = await startApp();
  [alice, mallory] = [await house(app), await house(app)];
  before = await digest(app);
});
afterAll(() => app.close());

/** Everything but the clock and the counters. */
const reported = ({ status, headers: { date: _, ratelimit: __, ...headers }, body }: Answer): unknown => ({
  status,
  headers,
  body,
});

/** A check of permissions is answered with "not authorized"; every other operation with an error. */
const isRefusal = (op: NamedOperation, { ok, data }: Answer): boolean => {
  // A reverse proxy reads the status alone.
  if (!op.admits?.includes('outsider') || op.protocol === 'forward-auth') return !ok;
  if (op.protocol === 'authzen') return (data as { decision?: boolean }).decision === false;
  const { items = [data] } = data as { items?: unknown[] };
  return items.every((item) => (item as { authorized?: boolean }).authorized === false);
};

/** Input in which every id is a live row of `owner` in that kind of scope, where there is one. */
function inputWith(op: NamedOperation, tenant: (typeof foreign)[number], owner: House) {
  const { rows } = owner.places[tenant];
  const idOf = (noun: string) => rows[noun]?.live[0];
  const input = sampleInput(op, owner.places[tenant].scope, {
    id: idOf(op.target?.name ?? nounOf(op)),
    userId: owner.person.userId,
    resourceId: idOf('Resource'),
  });
  for (const { name, noun, many } of idMembers(op)) {
    const id = idOf(noun);
    if (id && !(name in { id: 1, resourceId: 1 })) input[name] = many ? [id] : id;
  }
  return input;
}

describe('the tenancy matrix', () => {
  it.each(scoped.map((op, index) => [op.name, op, index] as const))('%s', async (_, op, index) => {
    const vias: readonly Via[] = op.only === 'rest' ? ['rest'] : transports;
    const tokens = [alice.person.token, alice.keyToken, ...alice.managementTokens];
    /** Responses for a scope that never existed. They don't depend on ids in the input: the scope is checked first. */
    const references = new Map<string, unknown>();
    for (const { tenant, token, owner, via } of combinations(index, {
      tenant: op.protocol === 'authzen' ? projects : foreign,
      token: tokens,
      owner: [alice, mallory],
      via: vias,
    })) {
      const input = inputWith(op, tenant, owner);
      const ask = (scope: unknown) =>
        app.raw(op.name, { ...input, scope }, { token, via, headers: { 'x-request-id': 'tenancy-matrix' } });
      const answer = await ask(mallory.places[tenant].scope);
      const place = `${tenant} over ${via}, ${owner === alice ? 'own' : 'foreign'} ids`;
      requested++;
      expect(isRefusal(op, answer), `${place}: ${answer.body}`).toBe(true);
      const key = `${tenant} ${via} ${tokens.indexOf(token)}`;
      if (!references.has(key)) references.set(key, reported(await ask(nowhere(tenant))));
      expect(reported(answer), place).toEqual(references.get(key));
      refused++;
    }
  });

  it('is refused completely and changes nothing', async () => {
    process.stdout.write(
      `tenancy: ${refused} of ${requested} refused, ${scoped.length} operations × ${foreign.length} foreign scopes × own and foreign ids × session and three keys × transports\n`,
    );
    expect(requested).toBeGreaterThan(scoped.length * foreign.length * (isWhole() ? 4 : 0.9));
    expect(refused).toBe(requested);
    expect(await digest(app)).toEqual(before);
  });
});
