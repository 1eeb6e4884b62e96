import { sql } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import type { Answer } from '../support/app/client.ts';

/** The database decides who the first user is: of any number of requests one succeeds, and none gets a 5xx. */
const password = 'three lanterns in the harbour';

let app: TestApp;
beforeEach(async () => {
  app = await startOwnApp();
});
afterEach(() => app.close());

const issued = async (issuer: string, by = app): Promise<string> => {
  const token = await by.app.issueFirstUserToken(issuer);
  if (token === null) throw new Error('no token was issued');
  return token;
};
const firstUser = (token: string, number: number, via: 'rest' | 'graphql' = 'rest', by = app) =>
  by.raw('createFirstUser', { token, email: `n${number}@example.test`, password, name: 'Ada' }, { via });
const registered = (number: number) =>
  app.raw('register', {
    provider: 'email',
    providerId: `r${number}@example.test`,
    providerData: { password },
  });

const codes = (answers: readonly Answer[]) =>
  answers.reduce<Record<string, number>>((sum, { code }) => {
    const name = code ?? 'OK';
    return { ...sum, [name]: (sum[name] ?? 0) + 1 };
  }, {});
const addresses = async (): Promise<string[]> =>
  (await rowsOf<{ email: string }>(app.database.pool, sql`select email from users order by created_at`)).map(
    ({ email }) => email,
  );

it('twenty at once with one token: one succeeds, over both transports', async () => {
  const token = await issued('here:4000');
  // The first request over GraphQL builds the schema.
  expect((await firstUser('wrong', 0, 'graphql')).code).toBe('INVALID_TOKEN');
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, number) => firstUser(token, number, number % 2 ? 'rest' : 'graphql')),
  );
  expect(codes(answers)).toEqual({ OK: 1, INVALID_TOKEN: 19 });
  expect(await addresses()).toHaveLength(1);
  process.stdout.write(`one token, twenty at once: ${JSON.stringify(codes(answers))}\n`);
});

it('twenty at once with twenty tokens: one succeeds', async () => {
  const tokens: string[] = [];
  for (let number = 0; number < 20; number++) tokens.push(await issued(`process-${number}:4000`));
  const answers = await Promise.all(tokens.map((token, number) => firstUser(token, number)));
  expect(codes(answers)).toEqual({ OK: 1, INVALID_TOKEN: 19 });
  expect(await addresses()).toHaveLength(1);
});

it('beside registrations: the first user is the first, or is refused', async () => {
  const token = await issued('here:4000');
  const registrations = Array.from({ length: 9 }, (_, number) => registered(number));
  const attempt = firstUser(token, 0);
  const others = await Promise.all([...registrations, ...[9, 10].map(registered)]);
  expect(codes(others)).toEqual({ OK: 11 });
  const answer = await attempt;
  expect(['OK', 'CONFLICT']).toContain(answer.code ?? 'OK');
  const inOrder = await addresses();
  expect(inOrder).toHaveLength(answer.ok ? 12 : 11);
  // The times are those of the start of transactions, so they do not tell who came first.
  if (answer.ok) expect(inOrder).toContain('n0@example.test');
});

it('starts at the same moment issue tokens, and none of them works for a second one', async () => {
  const token = await issued('here:4000');
  const [answer, ...starts] = await Promise.all([
    firstUser(token, 0),
    ...Array.from({ length: 10 }, (_, number) => app.app.issueFirstUserToken(`process-${number}:4000`)),
  ]);
  expect(answer.ok).toBe(true);
  const late = starts.filter((each) => each !== null);
  for (const each of late) {
    const { code } = await firstUser(each, 1);
    expect(['INVALID_TOKEN', 'CONFLICT']).toContain(code);
  }
  expect(await addresses()).toEqual(['n0@example.test']);
});

describe.runIf(inject('postgresUrl'))('two processes', () => {
  let there: TestApp;
  beforeEach(async () => {
    there = await startOwnApp({}, app);
  });
  afterEach(() => there.close());

  it('each with its token: of twenty requests at once one succeeds', async () => {
    const [mine, theirs] = [await issued('here:4000'), await issued('there:4000', there)];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        number % 2 ? firstUser(mine, number) : firstUser(theirs, number, 'rest', there),
      ),
    );
    expect(codes(answers)).toEqual({ OK: 1, INVALID_TOKEN: 19 });
    expect(await addresses()).toHaveLength(1);
  });
});
