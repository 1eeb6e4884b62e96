import { sql } from 'drizzle-orm';
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { fail } from '../../errors.ts';
import type { Call, Principal } from '../../kernel/context.ts';
import { createNotes, type RunOnce } from '../../kernel/stages.ts';
import { takesIdempotencyKey, type NamedOperation } from '../../kernel/operation.ts';
import { bare, refuse } from '../../kernel/output/reply.ts';
import { createIdempotency, purgeIdempotencyKeys, type IdempotencyOptions } from './idempotency.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const rotate = {
  kind: 'mutation',
  method: 'POST',
  access: 'any',
  path: '/api/x/:id/rotate',
  name: 'rotateX',
};
const op = { ...rotate, secrets: ['secret'] } as unknown as NamedOperation;
const current = randomBytes(32);
let principal: Principal;
let runs: number;
let logged: string[];
beforeEach(() => {
  principal = { type: 'session', userId: randomUUID() } as unknown as Principal;
  runs = 0;
  logged = [];
});

interface KeyedCall extends Pick<IdempotencyOptions, 'hashKeys' | 'database'> {
  readonly input: Record<string, unknown>;
}

/** Sends one request: its answer, and whether the answer is a replay. */
async function ask(
  perform: Parameters<RunOnce>[2],
  { hashKeys = [current], input = { a: 1 }, database = app.database }: Partial<KeyedCall> = {},
) {
  const call = { idempotencyKey: 'k', network: '::', effects: { headers: {} } } as unknown as Call;
  const log = (_: unknown, message: string) => void logged.push(message);
  const revision = async () => 'r';
  const once = createIdempotency({ database, clock: app.clock, hashKeys, revision, log })(
    op,
    call,
  ) as RunOnce;
  const answer = await once(input, { scope: undefined, principal, call }, perform, createNotes()).catch(
    (error: unknown) => error,
  );
  return { answer, replayed: 'Idempotency-Replayed' in call.effects.headers };
}
const answering =
  (answer: unknown): Parameters<RunOnce>[2] =>
  (transaction) =>
    transaction(async () => {
      runs++;
      return answer;
    });

it('applies to operations that create, rotate or test, by an authenticated caller', () => {
  const takes = (more: object) => takesIdempotencyKey({ ...op, ...more });
  expect(takes({})).toBe(true);
  expect(takes({ name: 'createX', path: '/api/x', status: 201 })).toBe(true);
  expect(takes({ name: 'testX', path: '/api/x/:id/test', status: 202 })).toBe(true);
  for (const none of [
    { name: 'revokeX', path: '/api/x/:id/revoke' },
    { method: 'PATCH' },
    { kind: 'query' },
    { access: 'public' },
    { path: '/api/auth/rotate' },
  ])
    expect(takes(none), JSON.stringify(none)).toBe(false);
});

it('stores the order of members, dates as text, and no secret', async () => {
  const at = new Date('2026-01-02T03:04:05.006Z');
  const first = await ask(answering({ zz: 1, secret: 's', at, a: { y: 1, x: [] } }));
  const second = await ask(answering({}));
  expect(first).toMatchObject({ replayed: false, answer: { secret: 's', at } });
  expect([second.replayed, JSON.stringify(second.answer), runs]).toEqual([
    true,
    '{"zz":1,"secret":null,"at":"2026-01-02T03:04:05.006Z","a":{"y":1,"x":[]}}',
    1,
  ]);
});

it('stores an error that committed its writes, without its message', async () => {
  const refusal = fail('INVALID_STATE', {
    params: { state: 'revoked' },
    details: [{ path: 'a.\u0000\ud800', code: 'format' }],
    fix: 'Make another.',
    headers: { 'Retry-After': '9' },
    cause: new Error('for the log'),
  });
  const committing: Parameters<RunOnce>[2] = async (transaction) => {
    await transaction(async () => refuse(refusal));
    throw refusal;
  };
  expect(await ask(committing)).toEqual({ answer: refusal, replayed: false });
  const { answer, replayed } = await ask(answering({}));
  expect(replayed).toBe(true);
  const { code, params, extras } = refusal;
  expect(answer).toMatchObject({
    code,
    params,
    extras: { details: extras.details, fix: extras.fix, headers: extras.headers },
  });
  expect(answer).not.toHaveProperty('extras.cause');
  expect([runs, logged]).toEqual([0, []]);
});

it('stores an error from before the transaction, and prepares nothing for a replay', async () => {
  const preparing: Parameters<RunOnce>[2] = async () => {
    runs++;
    throw fail('NOT_FOUND');
  };
  for (const replayed of [false, true, true]) {
    expect(await ask(preparing)).toMatchObject({ answer: { code: 'NOT_FOUND' }, replayed });
  }
  expect(runs).toBe(1);
});

it('looks for an answer again in the transaction: the first commit answers both requests', async () => {
  const overtaken: Parameters<RunOnce>[2] = async (transaction) => {
    expect(await ask(answering({ n: 1 }))).toEqual({ answer: { n: 1 }, replayed: false });
    return answering({ n: 2 })(transaction);
  };
  expect(await ask(overtaken)).toMatchObject({ answer: { n: 1 }, replayed: true });
  expect(runs).toBe(1);
});

it('does not overwrite the answer of a faster request with an error', async () => {
  const overtaken: Parameters<RunOnce>[2] = async () => {
    await ask(answering({ n: 1 }));
    throw fail('NOT_FOUND');
  };
  expect(await ask(overtaken)).toMatchObject({ answer: { code: 'NOT_FOUND' }, replayed: false });
  expect(await ask(answering({ n: 2 }))).toMatchObject({ answer: { n: 1 }, replayed: true });
  expect(logged).toEqual([]);
});

it.each([
  ['a failure', new Error('unforeseen')],
  ['an absence', fail('UNAVAILABLE')],
  ['a limit', fail('RATE_LIMITED', { params: { seconds: 1 } })],
  ['a lost credential', fail('UNAUTHENTICATED')],
])('does not store %s', async (_, error) => {
  const failing: Parameters<RunOnce>[2] = (transaction) =>
    transaction(() => {
      runs++;
      throw error;
    });
  for (const round of [1, 2]) {
    expect(await ask(failing)).toEqual({ answer: error, replayed: false });
    expect(runs).toBe(round);
  }
  expect(await ask(answering({ ok: true }))).toEqual({ answer: { ok: true }, replayed: false });
});

it('does not store an answer that is not data', async () => {
  for (const round of [1, 2]) {
    expect(await ask(answering(bare('text')))).toMatchObject({ replayed: false });
    expect(runs).toBe(round);
  }
});

it('recognizes an input under an older hash key, and rejects another input', async () => {
  await ask(answering({ a: 1 }));
  const next = randomBytes(32);
  expect(await ask(answering({}), { hashKeys: [next, current] })).toMatchObject({ replayed: true });
  expect(await ask(answering({}), { hashKeys: [next] })).toMatchObject({
    answer: { code: 'IDEMPOTENCY_KEY_REUSED' },
  });
  expect(await ask(answering({}), { input: { a: 2 } })).toMatchObject({
    answer: { code: 'IDEMPOTENCY_KEY_REUSED' },
  });
});

it('answers an error even if it cannot be stored', async () => {
  let broken = false;
  const database: IdempotencyOptions['database'] = {
    pool: app.database.pool,
    transaction: (work) => (broken ? Promise.reject(new Error('gone')) : app.database.transaction(work)),
  };
  const refusal = fail('NOT_FOUND');
  const breaking: Parameters<RunOnce>[2] = async () => {
    broken = true;
    throw refusal;
  };
  expect(await ask(breaking, { database })).toEqual({ answer: refusal, replayed: false });
  expect(logged).toHaveLength(1);
});

it('is purged by age', async () => {
  await ask(answering({ a: 1 }));
  const remaining = async () => {
    const { rows } = (await app.database.pool.execute(
      sql`select count(*)::int as n from idempotency_keys where credential = ${principal.userId}`,
    )) as { rows: { n: number }[] };
    return rows[0]?.n;
  };
  await purgeIdempotencyKeys(app.database.pool, new Date(app.clock.now().getTime() - 60_000));
  expect(await remaining()).toBe(1);
  await purgeIdempotencyKeys(app.database.pool, new Date(app.clock.now().getTime() + 60_000));
  expect(await remaining()).toBe(0);
});
