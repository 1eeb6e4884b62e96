import { sql } from 'drizzle-orm';
import pg from 'pg';
import type { z } from 'zod';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { takesIdempotencyKey, type NamedOperation } from '../../src/kernel/operation.ts';
import { dereferenced } from '../support/cases/openapi-document.ts';
import { pascalTenant, type ScopeRef, type Tenant } from '../../src/kernel/scope.ts';
import { operations } from '../../src/operations.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { PasskeyDevice } from '../support/sign-in/passkey-device.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { graphqlRequest, transports, unique, type Answer, type Via } from '../support/app/client.ts';
import { sampleInput } from './sample.ts';
import { digest, domainFor, house, keyToken, type House, isOfInstallation } from './world.ts';

/** `Idempotency-Key` (conventions §9): a repeated request is executed once and gets the response of the first one. */
let app: TestApp;
let owner: House;
let token: string;
let scope: ScopeRef;

beforeAll(async () => {
  // Without the webhook delivery, which writes to the tables. A request under way holds a connection; detecting it
  // takes another one.
  app = await startApp({
    DATABASE_POOL_MAX: '4',
    // Requests wait for a lock as long as a test holds it.
    DATABASE_STATEMENT_TIMEOUT_MS: '60000',
  });
  owner = await house(app);
  ({ token } = owner.person);
  ({ scope } = owner.places.accountProject);
});
afterAll(() => app.close());

const DAY_MS = 24 * 3600 * 1000;
const keyed = operations.filter(takesIdempotencyKey);
const operation = (name: string) => operations.find((op) => op.name === name) as NamedOperation;
const replayed = ({ headers }: Answer) => headers['idempotency-replayed'] === 'true';

interface Ask {
  readonly as?: string;
  readonly via?: Via;
  readonly language?: string;
  readonly of?: TestApp;
}
/** One call with an idempotency key. */
const ask = (name: string, input: object, key: string, { as = token, via, language, of = app }: Ask = {}) =>
  of.raw(name, input, {
    token: as,
    ...(via ? { via } : {}),
    headers: { 'idempotency-key': key, ...(language ? { 'accept-language': language } : {}) },
  });
const idOf = ({ data }: Answer) => (data as { id: string }).id;

/** The answer of an authenticator to a challenge of this session. */
async function passkeyInput(as: string) {
  const { challengeId, publicKey } = await app.must('createPasskeyOptions', {}, { token: as });
  return { challengeId, credential: new PasskeyDevice().create(publicKey) };
}

describe('the declarations', () => {
  it('allow a key for the operations of conventions §9', () => {
    const expected = operations.filter(
      (op) =>
        op.rest.startsWith('POST /') &&
        !op.rest.startsWith('POST /auth/') &&
        (op.status === 201 || /^rotate/.test(op.name) || op.rest.endsWith('/test')),
    );
    expect(keyed.map(({ name }) => name)).toEqual(expected.map(({ name }) => name));
    expect(keyed.every(({ access }) => access !== 'public')).toBe(true);
  });

  it('name the members with secrets that a replay omits, and declare them nullable', () => {
    for (const op of keyed) {
      const { shape } = op.output as z.ZodObject;
      const once = Object.keys(shape).filter((name) => /secret$|otpauth|token$|recoveryCodes/i.test(name));
      expect(op.secrets ?? [], op.name).toEqual(expect.arrayContaining(once));
      for (const name of op.secrets ?? [])
        expect((shape[name] as z.ZodType).safeParse(null).success).toBe(true);
    }
    expect(keyed.some(({ secrets }) => secrets?.length)).toBe(true);
  });

  it('are documented in OpenAPI', async () => {
    interface Entry {
      readonly operationId: string;
      readonly parameters?: readonly { name: string; in: string }[];
      readonly responses: Readonly<Record<string, { headers?: object; 'x-codes'?: readonly string[] }>>;
    }
    const document = await app.server.inject('/api-docs.json');
    const { paths } = dereferenced(document.json<{ paths: Record<string, Record<string, Entry>> }>());
    const takes = (entry: Entry) => [
      entry.parameters?.some(
        (parameter) => parameter.in === 'header' && parameter.name === 'Idempotency-Key',
      ) ?? false,
      Object.values(entry.responses).some(({ headers }) => headers && 'Idempotency-Replayed' in headers),
      entry.responses['409']?.['x-codes']?.includes('IDEMPOTENCY_IN_PROGRESS') ?? false,
      entry.responses['422']?.['x-codes']?.includes('IDEMPOTENCY_KEY_REUSED') ?? false,
    ];
    const entries = Object.values(paths).flatMap((item) => Object.values(item));
    const names = new Set(keyed.map(({ name }) => name));
    for (const entry of entries) {
      expect(takes(entry), entry.operationId).toEqual(Array(4).fill(names.has(entry.operationId)));
    }
    expect(entries).toHaveLength(operations.length);
  });
});

describe.each(keyed.filter((op) => !isOfInstallation(op)).map((op) => [op.name, op] as const))(
  '%s',
  (name, op) => {
    const pairs = (op.only === 'rest' ? (['rest'] as const) : transports).flatMap((first) =>
      (op.only === 'rest' ? (['rest'] as const) : transports).map((second) => [first, second] as const),
    );

    it.each(pairs)('over %s and repeated over %s is one change and one response', async (first, second) => {
      // An operation about the callers themselves may be possible only once.
      const as = op.scoped ? token : (await app.person()).token;
      const input =
        op.tag === 'Policy'
          ? await policyInput(op)
          : op.name === 'createPasskey'
            ? await passkeyInput(as)
            : {
                ...inputOf(op),
                ...(await domainFor(op, app, { scope: owner.places.organization.scope, token })),
              };
      const key = unique();
      const item = await ask(name, input, key, { as, via: first });
      expect([item.ok, item.status, replayed(item)], item.body).toEqual([
        true,
        first === 'rest' ? (op.status ?? 200) : 200,
        false,
      ]);
      await app.app.flushMails();
      const [rows, mails] = [await digest(app), app.mails.length];

      const other = await ask(name, input, key, { as, via: second });
      expect([other.ok, replayed(other)], other.body).toEqual([true, true]);
      expect(other.status).toBe(second === 'rest' ? (op.status ?? 200) : 200);
      await app.app.flushMails();
      expect([await digest(app), app.mails.length]).toEqual([rows, mails]);

      const blanks = Object.fromEntries((op.secrets ?? []).map((secret) => [secret, null]));
      const expected = { ...(item.data as object), ...blanks };
      if (first === second) expect(JSON.stringify(other.data)).toBe(JSON.stringify(expected));
      else expect(common(other.data, expected)).toEqual(common(expected, other.data));
      // What a test found is no row.
      if (op.name !== 'testOrganizationConnection')
        expect(JSON.stringify(other.data)).toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
    });
  },
);

/** The members that both responses have: REST omits what GraphQL has to fill with null. */
const common = (item: unknown, other: unknown) =>
  Object.fromEntries(
    Object.entries(item as object).filter(([name]) => (other as Record<string, unknown>)[name] !== undefined),
  );

/** The smallest input that is accepted, with rows of the account for ids. */
function inputOf(op: NamedOperation): Record<string, unknown> {
  if (!op.scoped) return sampleInput(op);
  const tenant = op.tenants?.find((tenant) => tenant.endsWith('Project')) ?? op.tenants?.[0] ?? 'account';
  const { rows, scope: at } = owner.places[tenant];
  const role = rows['Role']?.live[0];
  const sample = sampleInput(op, at, {
    id: rows[op.target?.name ?? '']?.live[0],
    resourceId: rows['Resource']?.live[0],
    action: 'query',
    roleId: role,
    roleIds: [role],
  });
  // Either a name or a user, which the schema cannot express.
  return op.name === 'createUser' ? { name: `Sample ${unique()}`, ...sample } : sample;
}

/** An application to a project of its own, to which one policy was applied before a version is rolled back. */
async function policyInput(op: NamedOperation): Promise<Record<string, unknown>> {
  const as = { token };
  const { id, scope: at } = await app.must('createProject', { scope: owner.person.account, name: 'P' }, as);
  const policy = { version: 1, tags: { new: {} } } as never;
  if (op.name === 'applyPolicy') return { id, scope: at, policy };
  await app.must('applyPolicy', { id, scope: at, policy }, as);
  const other = { version: 1 } as never;
  const { version } = await app.must('policy', { id, scope: at }, as);
  const second = { id, scope: at, policy: other, ifVersion: version, allowDelete: true };
  const { version: ifVersion } = await app.must('applyPolicy', second, as);
  return { id, scope: at, number: 1, ifVersion };
}

describe.each(storyTransports(import.meta))('over %s, the same key', (via) => {
  const role = (more: object = {}) => ({ scope, name: 'Reader', ...more });

  it('with a different input is refused', async () => {
    const key = unique();
    expect((await ask('createRole', role(), key, { via })).ok).toBe(true);
    for (const other of [
      role({ name: 'Writer' }),
      role({ description: 'x' }),
      { ...role(), scope: elsewhere() },
    ]) {
      const refused = await ask('createRole', other, key, { via });
      expect([refused.code, replayed(refused)]).toEqual(['IDEMPOTENCY_KEY_REUSED', false]);
      if (via === 'rest') expect(refused.status).toBe(422);
    }
  });

  const elsewhere = () => owner.places.organizationProject.scope;

  it('with the same input in another notation is replayed', async () => {
    const key = unique();
    const item = await ask('createRole', role({ metadata: { a: 1, b: 2 } }), key, { via });
    const upper = { tenant: pascalTenant(scope.tenant as Tenant), id: scope.id.toUpperCase() };
    const words = { metadata: { b: 2, a: 1 }, name: ' Reader ', scope: upper };
    const other = await ask('createRole', words, key, { via });
    expect([idOf(other), replayed(other)]).toEqual([idOf(item), true]);
  });

  it('of another credential or of another operation is independent', async () => {
    const key = unique();
    const item = await ask('createRole', role(), key, { via });
    const machine = await keyToken(app, token, scope);
    const other = await ask('createRole', role(), key, { via, as: machine });
    expect([other.ok, replayed(other)]).toEqual([true, false]);
    expect(idOf(other)).not.toBe(idOf(item));
    const group = await ask('createGroup', role(), key, { via });
    expect([group.ok, replayed(group)]).toEqual([true, false]);
  });

  it('of the same user in another session is the same key', async () => {
    const key = unique();
    const item = await ask('createRole', role(), key, { via });
    const { email, password } = owner.person;
    const signIn = await app.must('login', {
      provider: 'email',
      providerId: email,
      providerData: { password },
    });
    const other = await ask('createRole', role(), key, { via, as: signIn.accessToken });
    expect([idOf(other), replayed(other)]).toEqual([idOf(item), true]);
  });

  it('stores no secret, and replays null in its place', async () => {
    const key = unique();
    const item = await ask('createApiKey', { scope }, key, { via });
    const { clientSecret } = item.data as { clientSecret: string };
    expect(clientSecret).toMatch(/^dwk_/);
    const { rows } = (await app.database.pool.execute(
      sql`select t::text as row from idempotency_keys t where key = ${key}`,
    )) as { rows: { row: string }[] };
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toContain(clientSecret.slice(4, 20));
    const other = await ask('createApiKey', { scope }, key, { via });
    expect(other.data).toEqual({ ...(item.data as object), clientSecret: null });
  });

  it('replays a refusal in the language of the repeated request', async () => {
    const key = unique();
    const tag = { scope, name: unique() };
    const { id } = await app.must('createTag', tag, { token });
    const item = await ask('createTag', tag, key, { via });
    expect([item.code, replayed(item)]).toEqual(['CONFLICT', false]);
    await app.must('deleteTag', { scope, id }, { token });
    const other = await ask('createTag', tag, key, { via, language: 'de' });
    expect([other.code, other.status, replayed(other)]).toEqual(['CONFLICT', item.status, true]);
    expect(other.details.map(({ path, code }) => [path, code])).toEqual([['name', 'taken']]);
    expect(item.body).toContain('This already exists.');
    expect(other.body).toContain('Das ist bereits vorhanden.');
    expect(other.headers['content-language']).toBe('de');
    expect((await ask('createTag', tag, unique(), { via })).ok).toBe(true);
  });

  it('can be used again after a refusal before the rules are checked', async () => {
    const key = unique();
    const invalid = await ask('createRole', role({ name: '' }), key, { via });
    expect(invalid.code).toBe('VALIDATION_ERROR');
    expect((await ask('createRole', role(), key, { via, as: 'none' })).code).toBe('UNAUTHENTICATED');
    const foreign = await ask('createRole', role(), key, { via, as: (await app.person()).token });
    expect(foreign.code).toBe('FORBIDDEN');
    const done = await ask('createRole', role(), key, { via });
    expect([done.ok, replayed(done)]).toEqual([true, false]);
  });

  it('can be used again after a failure, which was rolled back', async () => {
    const key = unique();
    await app.owner.execute(sql`alter table audit_log rename to audit_log_away`);
    const failed = await ask('createRole', role(), key, { via });
    await app.owner.execute(sql`alter table audit_log_away rename to audit_log`);
    expect(failed.code).toBe('INTERNAL_ERROR');
    const done = await ask('createRole', role(), key, { via });
    expect([done.ok, replayed(done)]).toEqual([true, false]);
  });

  it('replays nothing to a caller who lost the permission', async () => {
    const as = { token };
    const create = await app
      .must('permissions', { scope, ids: [] }, as)
      .then(async () => (await app.must('permissions', { scope, search: 'Tag:Create' }, as)).items[0]);
    const group = await app.must(
      'createGroup',
      { scope, name: 'G', permissionIds: [create?.id as string] },
      as,
    );
    const assigned = await app.must('createRole', { scope, name: 'R', groupIds: [group.id] }, as);
    const machine = await keyToken(app, token, scope, assigned.id);
    const [key, tag] = [unique(), { scope, name: unique() }];
    const item = await ask('createTag', tag, key, { via, as: machine });
    expect(item.ok, item.body).toBe(true);
    await app.must('updateGroup', { scope, id: group.id, permissionIds: [] }, as);
    const refused = await ask('createTag', tag, key, { via, as: machine });
    expect([refused.code, replayed(refused)]).toEqual(['FORBIDDEN', false]);
    await app.must('updateGroup', { scope, id: group.id, permissionIds: [create?.id as string] }, as);
    const again = await ask('createTag', tag, key, { via, as: machine });
    expect([idOf(again), replayed(again)]).toEqual([idOf(item), true]);
  });

  it('sent twenty times at once creates one row', async () => {
    const [key, input] = [unique(), role({ name: `Once ${unique()}` })];
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ask('createRole', input, key, { via })),
    );
    const done = answers.filter(({ ok }) => ok);
    for (const { code, headers } of answers.filter(({ ok }) => !ok)) {
      expect([code, headers['retry-after']]).toEqual([
        'IDEMPOTENCY_IN_PROGRESS',
        via === 'rest' ? '1' : undefined,
      ]);
    }
    expect(done.filter((item) => !replayed(item))).toHaveLength(1);
    expect(new Set(done.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    expect((await app.must('roles', { scope, search: input.name }, { token })).totalCount).toBe(1);
  });

  it('sent twenty times at once returns one refusal', async () => {
    const [key, tag] = [unique(), { scope, name: unique() }];
    await app.must('createTag', tag, { token });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('createTag', tag, key, { via })));
    for (const { code } of answers) expect(['CONFLICT', 'IDEMPOTENCY_IN_PROGRESS']).toContain(code);
    const later = await ask('createTag', tag, key, { via });
    expect([later.code, replayed(later)]).toEqual(['CONFLICT', true]);
  });

  it.each([
    ['is empty', '', 'format'],
    ['has a space', 'a b', 'format'],
    ['has a control character', 'a\tb', 'format'],
    ['is not ASCII', 'schl\u00fcssel', 'format'],
    ['is too long', 'x'.repeat(256), 'too_long'],
  ])('that %s is 400', async (_, key, code) => {
    const refused = await ask('createRole', role(), key, { via });
    expect([refused.code, refused.details.map((detail) => `${detail.path} ${detail.code}`)]).toEqual([
      'VALIDATION_ERROR',
      [`Idempotency-Key ${code}`],
    ]);
    // An operation that supports no key ignores the header.
    const tags = await ask('tags', { scope }, key, { via });
    expect([tags.ok, replayed(tags)]).toEqual([true, false]);
    const id = owner.places.accountProject.rows['Tag']?.live[0] as string;
    expect((await ask('updateTag', { scope, id, name: unique() }, key, { via })).ok).toBe(true);
  });

  it('accepts printable characters, up to 255', async () => {
    for (const key of ['x', `!"#~${unique()}`, unique().padEnd(255, 'x')]) {
      expect((await ask('createRole', role(), key, { via })).ok).toBe(true);
      expect(replayed(await ask('createRole', role(), key, { via }))).toBe(true);
    }
  });

  it('is optional', async () => {
    const [item, other] = [
      await app.must('createRole', role(), { token, via }),
      await app.must('createRole', role(), { token, via }),
    ];
    expect(item.id).not.toBe(other.id);
  });
});

describe('the header', () => {
  it('sent twice is 400', async () => {
    const key = [unique(), unique()];
    const { statusCode, body } = await app.server.inject({
      method: 'POST',
      url: '/api/roles',
      headers: { authorization: `Bearer ${token}`, 'idempotency-key': key },
      payload: { scope, name: 'Reader' },
    });
    expect([statusCode, body.includes('Idempotency-Key')]).toEqual([400, true]);
  });

  it('may be sent, and its response header read, by a browser of an allowed origin', async () => {
    const origin = 'http://localhost:4000';
    const preflight = await app.server.inject({
      method: 'OPTIONS',
      url: '/api/roles',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,idempotency-key',
      },
    });
    expect(preflight.headers['access-control-allow-headers']).toContain('idempotency-key');
    const { headers } = await app.server.inject({ url: '/api/me', headers: { origin } });
    expect(headers['access-control-expose-headers']).toContain('Idempotency-Replayed');
  });
});

describe('a GraphQL request', () => {
  const create = (name: string) => ({ scope, name });
  const field = (alias: string, name: string) =>
    `${alias}: createRole(input: {scope: {tenant: ${scope.tenant}, id: "${scope.id}"}, name: "${name}"}) { id }`;
  const send = async (payload: object, key = unique()) => {
    const response = await app.server.inject({
      method: 'POST',
      url: '/graphql',
      headers: { authorization: `Bearer ${token}`, 'idempotency-key': key },
      payload,
    });
    return { status: response.statusCode, headers: response.headers, body: response.body };
  };
  const count = async (name: string) =>
    (await app.must('roles', { scope, search: name }, { token })).totalCount;

  it('with two mutations cannot have a key', async () => {
    const name = unique();
    const item = graphqlRequest(operation('createRole'), create(name));
    for (const payload of [
      { query: `mutation { ${field('a', name)} ${field('b', name)} }` },
      { query: `mutation { ...Both } fragment Both on Mutation { ${field('a', name)} ${field('b', name)} }` },
      [item, item],
      [item, graphqlRequest(operation('tags'), { scope }), item],
    ]) {
      const { status, body } = await send(payload);
      expect([status, body.includes('VALIDATION_ERROR'), body.includes('one mutation')], body).toEqual([
        400,
        true,
        true,
      ]);
    }
    expect(await count(name)).toBe(0);
  });

  /** A replay returns the state at the time of the first call. */
  const withoutRevision = (body: string): string => body.replace(/"revision":"[\w-]{22}"/g, '');

  it('with one mutation among queries can have a key', async () => {
    const name = unique();
    const item = graphqlRequest(operation('createRole'), create(name));
    for (const payload of [
      [item],
      [graphqlRequest(operation('tags'), { scope }), item],
      { query: `mutation { __typename ${field('a', name)} }` },
    ]) {
      const key = unique();
      const [first, second] = [await send(payload, key), await send(payload, key)];
      expect([first.status, first.headers['idempotency-replayed']]).toEqual([200, undefined]);
      expect([withoutRevision(second.body), second.headers['idempotency-replayed']]).toEqual([
        withoutRevision(first.body),
        'true',
      ]);
    }
    expect(await count(name)).toBe(3);
  });

  it('with queries only ignores the key', async () => {
    const two = graphqlRequest(operation('tags'), { scope });
    const { status, headers } = await send([two, two], 'a b');
    expect([status, headers['idempotency-replayed']]).toEqual([200, undefined]);
  });

  it('resolves the relations of a replayed result', async () => {
    const group = await app.must('createGroup', { scope, name: 'Shown' }, { token });
    const key = unique();
    const input = { scope, name: 'With', groupIds: [group.id] };
    const options = {
      token,
      via: 'graphql',
      select: '{ id groups { name } }',
      headers: { 'idempotency-key': key },
    } as const;
    const [item, other] = [
      await app.raw('createRole', input, options),
      await app.raw('createRole', input, options),
    ];
    expect(item.data).toMatchObject({ groups: [{ name: 'Shown' }] });
    expect([other.data, replayed(other)]).toEqual([item.data, true]);
  });
});

describe('a day later', () => {
  it('the key can be used again, and the stored response is deleted', async () => {
    const own = await startApp();
    const person = await own.person();
    const signIn = async () =>
      (
        await own.must('login', {
          provider: 'email',
          providerId: person.email,
          providerData: { password: person.password },
        })
      ).accessToken;
    const key = unique();
    const tag = (name = 'first') => ({ scope: person.account, name });
    const item = await ask('createTag', tag(), key, { as: person.token, of: own });
    own.clock.advance(DAY_MS - 60_000);
    const kept = await ask('createTag', tag(), key, { as: await signIn(), of: own });
    expect([idOf(kept), replayed(kept)]).toEqual([idOf(item), true]);
    own.clock.advance(61_000);
    const as = await signIn();
    const reused = await ask('createTag', tag('second'), key, { as, of: own });
    expect([reused.status, replayed(reused)], reused.body).toEqual([201, false]);
    const again = await ask('createTag', tag('second'), key, { as, of: own });
    expect([idOf(again), replayed(again)]).toEqual([idOf(reused), true]);
    await own.close();
  });
});

it('succeeds with a pool of one connection, many at a time', async () => {
  const own = await startApp({ DATABASE_POOL_MAX: '1' });
  const { token: as, account } = await own.person();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      ask('createTag', { scope: account, name: `Tag ${n % 5}` }, `key-${n % 5}`, { as, of: own }),
    ),
  );
  expect(answers.filter((answer) => answer.status === 201 && !replayed(answer))).toHaveLength(5);
  for (const { code } of answers) expect([null, 'IDEMPOTENCY_IN_PROGRESS']).toContain(code);
  expect((await own.must('tags', { scope: account }, { token: as })).totalCount).toBe(5);
  await own.close();
});

describe.runIf(inject('postgresUrl'))('on PostgreSQL', () => {
  it.each(storyTransports(import.meta))(
    'answers a repetition over %s while the first request is still running',
    async (via) => {
      const other = await startApp({}, app);
      const holder = new pg.Client({ connectionString: app.postgres?.url });
      await holder.connect();
      const [key, role] = [unique(), { scope, name: 'Reader' }];
      const locked = async () => {
        const { rowCount } = await holder.query(
          `select 1 from pg_locks l join pg_database d on d.oid = l.database
         where l.locktype = 'advisory' and l.granted and d.datname = current_database()`,
        );
        return rowCount === 1;
      };
      try {
        // The row that every mutation of the project writes last.
        await holder.query('begin');
        await holder.query('select 1 from nodes where id = $1 for update', [scope.id.split(':')[1]]);
        const first = ask('createRole', role, key, { via });
        while (!(await locked())) await new Promise((resolve) => setImmediate(resolve));
        for (const of of [app, other]) {
          const second = await ask('createRole', role, key, { via, of });
          expect([second.code, second.status], second.body).toEqual([
            'IDEMPOTENCY_IN_PROGRESS',
            via === 'rest' ? 409 : 200,
          ]);
          if (via === 'rest') expect(second.headers['retry-after']).toBe('1');
        }
        await holder.query('commit');
        const done = await first;
        expect([done.ok, replayed(done)], done.body).toEqual([true, false]);
        for (const of of [app, other]) {
          const later = await ask('createRole', role, key, { via, of });
          expect([idOf(later), replayed(later)]).toEqual([idOf(done), true]);
        }
      } finally {
        await holder.end();
        await other.close();
      }
    },
  );
});
