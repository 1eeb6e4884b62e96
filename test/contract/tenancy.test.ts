import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../src/operations.ts';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { transports, type Answer, type Via } from '../support/client.ts';
import { idMembers, sampleInput } from './sample.ts';
import { digest, house, nounOf, nowhere, type House } from './world.ts';

/**
 * The tenancy matrix: every operation with a scope, in each kind of foreign scope, naming own and foreign rows, by a
 * session and by a key, over both transports. Refused means: answered as if the scope had never existed, to the byte,
 * so that nothing is told; and no table of the database is any different afterwards.
 */
const foreign = ['account', 'organization', 'accountProject', 'organizationProject'] as const;
const scoped = operations.filter((op) => op.scoped);

let app: TestApp;
/** Asks. */
let alice: House;
/** Is asked about. */
let mallory: House;
let before: Record<string, string>;
let asked = 0;
let refused = 0;

beforeAll(async () => {
  app = await startApp({ SECURITY_RATE_LIMIT_EXPORT_MAX: '1000' });
  [alice, mallory] = [await house(app), await house(app)];
  before = await digest(app);
});
afterAll(() => app.close());

/** Everything but the clock and the counters. */
const told = ({ status, headers: { date: _, ratelimit: __, ...headers }, body }: Answer): unknown => ({
  status,
  headers,
  body,
});

/** A question about rights is answered, with no; everything else is an error. */
const isRefusal = (op: NamedOperation, { ok, data }: Answer): boolean => {
  // A proxy reads the status alone.
  if (!op.asksOnly || op.headers) return !ok;
  const { items = [data] } = data as { items?: unknown[] };
  return items.every((one) => (one as { authorized?: boolean }).authorized === false);
};

/** Input whose every id is a live row of `owner` in that kind of scope, as far as there is one. */
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
  it.each(scoped.map((op) => [op.name, op] as const))('%s', async (_, op) => {
    const via: readonly Via[] = op.only === 'rest' ? ['rest'] : transports;
    for (const transport of via) {
      for (const tenant of foreign) {
        for (const owner of [alice, mallory]) {
          for (const token of [alice.person.token, alice.keyToken]) {
            const input = inputWith(op, tenant, owner);
            const ask = (scope: unknown) =>
              app.raw(
                op.name,
                { ...input, scope },
                { token, via: transport, headers: { 'x-request-id': 'tenancy-matrix' } },
              );
            const answer = await ask(mallory.places[tenant].scope);
            const nobody = await ask(nowhere(tenant));
            const place = `${tenant} over ${transport}, ${owner === alice ? 'own' : 'foreign'} ids`;
            asked++;
            expect(isRefusal(op, answer), `${place}: ${answer.body}`).toBe(true);
            expect(told(answer), place).toEqual(told(nobody));
            refused++;
          }
        }
      }
    }
  });

  it('is refused as a whole, and leaves no trace', async () => {
    process.stdout.write(
      `tenancy: ${refused} of ${asked} refused, ${scoped.length} operations × ${foreign.length} foreign scopes × own and foreign ids × session and key × transports\n`,
    );
    expect(asked).toBeGreaterThan(scoped.length * foreign.length * 4);
    expect(refused).toBe(asked);
    expect(await digest(app)).toEqual(before);
  });
});
