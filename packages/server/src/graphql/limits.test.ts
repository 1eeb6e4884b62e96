import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../test/support/app/app.ts';
import { leastToll } from '../../test/support/app/event-loop.ts';

/** Short documents that would take much work, from a caller without a token. */

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await post({ query: '{ __typename }' });
});
afterAll(() => app.close());

async function post(payload: unknown): Promise<{ code: string | undefined; limit: string }> {
  const { body } = await app.server.inject({
    method: 'POST',
    url: '/graphql',
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify(payload),
  });
  const match = [JSON.parse(body) as { errors?: { message: string; extensions: { code: string } }[] }].flat();
  const error = match.flatMap(({ errors = [] }) => errors)[0];
  return { code: error?.extensions.code, limit: error?.message ?? '' };
}

/** Each fragment spreads the next two, so each link multiplies the selections by about 1.6. */
function chain(length: number, type: string, last: string): string {
  const links = Array.from({ length }, (_, i) => `fragment F${i} on ${type} { ...F${i + 1} ...F${i + 2} }`);
  return [
    ...links,
    `fragment F${length} on ${type} { ${last} }`,
    `fragment F${length + 1} on ${type} { ${last} }`,
  ].join(' ');
}

/** Generous, for busy machines: following every spread would never end. */
const MOST_MS = 1000;

const group = 'group(input: {scope: {tenant: organization, id: "x"}, id: "x"})';

describe('fragments that multiply', () => {
  it.each([
    ['at the root', `{ ...F0 } ${chain(90, 'Query', '__typename')}`],
    ['below a field', `{ ${group} { ...F0 } } ${chain(90, 'Group', 'name')}`],
    ['below the schema', `{ __schema { types { ...F0 } } } ${chain(90, '__Type', 'name')}`],
    ['where nothing spreads them', `{ __typename } ${chain(90, 'Group', 'name')}`],
    [
      'in an operation that does not run',
      `query A { __typename } query B { ...F0 } ${chain(90, 'Query', '__typename')}`,
    ],
  ])('are refused without following every spread: %s', async (_, query) => {
    const operationName = query.includes('query A') ? 'A' : undefined;
    const { result, blockedMs } = await leastToll(MOST_MS, () => post({ query, operationName }));
    expect(result.code).toBe('QUERY_TOO_COMPLEX');
    expect(result.limit).toContain('selections > 5000');
    expect(blockedMs).toBeLessThan(MOST_MS);
  });

  it('may make 5,000 selections in one request, batch included', async () => {
    // 500 selections: the root field, ten spreads with 48 fields each, and nine fields.
    const query = `{ ${group} { ${'...F '.repeat(10)}${'id '.repeat(9)} } } fragment F on Group { ${'name '.repeat(48)} }`;
    expect((await post(Array.from({ length: 10 }, () => ({ query })))).code).toBe('UNAUTHENTICATED');
    const item = query.replace('id ', 'id id ');
    const more = await post([...Array.from({ length: 9 }, () => ({ query })), { query: item }]);
    expect(more.code).toBe('QUERY_TOO_COMPLEX');
  });
});

it('looks at nested inline fragments once', async () => {
  const nested = `{ ${group} { ${'...{'.repeat(640)}name${'}'.repeat(640)} } }`;
  let run = 0;
  const { blockedMs } = await leastToll(MOST_MS, () => post({ query: `${nested} #${run++}` }));
  expect(blockedMs).toBeLessThan(MOST_MS);
});

it('answers with the schema five times in one request at most', async () => {
  const query = '{ __schema { queryType { name } } }';
  const times = (count: number) => Array.from({ length: count }, () => ({ query }));
  expect((await post(times(5))).code).toBeUndefined();
  expect((await post(times(6))).limit).toContain('introspection fields > 5');
});
