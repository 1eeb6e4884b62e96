import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joined, member } from '../../../test/contract/world.ts';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person, type Via } from '../../../test/support/app/client.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Domains of organizations: how control of one is proved, kept and lost, and that two organizations never have it. */
let app: TestApp;

beforeAll(async () => {
  app = await startOwnApp();
});
afterAll(() => app.close());

const HOUR = 3_600_000;

interface Office {
  readonly ada: Person;
  readonly scope: ScopeRef;
}

async function office(): Promise<Office> {
  const ada = await app.person({ type: 'organization' });
  const input = { scope: ada.account, name: `Office ${unique()}` };
  const { id } = await app.must('createOrganization', input, { token: ada.token });
  return { ada, scope: joined('organization', id) };
}

const fresh = () => `${unique()}.example.org`;

async function named({ ada, scope }: Office, domain = fresh(), via: Via = 'rest') {
  return app.must('createOrganizationDomain', { scope, domain }, { token: ada.token, via });
}

const publish = ({ record }: { readonly record: { readonly name: string; readonly value: string } }) =>
  void app.records.set(record.name, ['v=spf1 -all', record.value]);

const verify = ({ ada, scope }: Office, id: string, via: Via = 'rest') =>
  app.call('verifyOrganizationDomain', { scope, id }, { token: ada.token, via });

async function proved(at: Office, domain = fresh()) {
  const row = await named(at, domain);
  publish(row);
  expect((await verify(at, row.id)).ok).toBe(true);
  return row;
}

async function statusOf({ ada, scope }: Office, id: string) {
  const { items } = await app.must('organizationDomains', { scope, ids: [id] }, { token: ada.token });
  return items[0]?.status;
}

const eventsOf = async ({ scope }: Office) =>
  (
    await rowsOf<{ type: string }>(
      app.database.pool,
      sql`select type from events where tenant_id = ${scope.id}::uuid and type like 'organization_domain.%' order by sequence`,
    )
  ).map(({ type }) => type.split('.')[1]);

/** A day passes, and the job runs; people sign in again, because their sign-in is no longer recent. */
async function nextDay(): Promise<number> {
  app.clock.advance(25 * HOUR);
  return app.app.recheckDomains();
}

async function again(at: Office): Promise<Office> {
  const { email: providerId, password } = at.ada;
  const answer = await app.must('login', { provider: 'email', providerId, providerData: { password } });
  const { accessToken } = ((answer as { signIn?: object }).signIn ?? answer) as { accessToken: string };
  return { ...at, ada: { ...at.ada, token: accessToken } };
}

it('a slow name server keeps no person from signing in', { tags: 'race' }, async () => {
  const at = await office();
  const rows = [];
  for (let count = 0; count < 20; count++) rows.push(await named(at));
  const answer: (() => void)[] = [];
  const slow = new Promise<readonly string[]>((resolve) => answer.push(() => resolve([])));
  for (const { record } of rows) app.records.set(record.name, slow);
  const waiting = rows.map(({ id }) => verify(at, id));
  const { email: providerId, password } = at.ada;
  const signIn = await app.call('login', { provider: 'email', providerId, providerData: { password } });
  expect(signIn.ok).toBe(true);
  answer.forEach((end) => end());
  expect(new Set((await Promise.all(waiting)).map(({ code }) => code))).toEqual(new Set(['INVALID_STATE']));
});

describe.each(storyTransports(import.meta))('over %s', (via) => {
  it('a domain is named, proved by its record, listed and deleted', async () => {
    const at = await office();
    const domain = fresh();
    const row = await named(at, domain.toUpperCase(), via);
    expect(row).toMatchObject({ domain, status: 'pending', verifiedAt: null, checkedAt: null });
    expect(row.record).toEqual({
      type: 'TXT',
      name: `_doorward.${domain}`,
      value: expect.stringMatching(/^doorward-domain=[\w-]{43}$/) as string,
    });

    const early = await verify(at, row.id, via);
    expect(early.code).toBe('INVALID_STATE');
    expect(early.body).toContain(row.record.value);
    publish(row);
    const { data } = await verify(at, row.id, via);
    expect(data).toMatchObject({ status: 'verified', id: row.id });
    expect(data.verifiedAt).toBe(data.checkedAt);
    // Once more, which proves nothing new.
    expect((await verify(at, row.id, via)).ok).toBe(true);

    const list = (status: 'pending' | 'verified') =>
      app.must('organizationDomains', { scope: at.scope, status }, { token: at.ada.token, via });
    expect((await list('verified')).items.map(({ id }) => id)).toEqual([row.id]);
    expect((await list('pending')).items).toEqual([]);
    const gone = { scope: at.scope, id: row.id };
    await app.must('deleteOrganizationDomain', gone, { token: at.ada.token, via });
    expect((await verify(at, row.id, via)).code).toBe('NOT_FOUND');
    expect(await eventsOf(at)).toEqual(['verified', 'deleted']);
  });

  it('text that is no domain, or belongs to all customers of a registry, is refused', async () => {
    const { ada, scope } = await office();
    const refusedAs = async (domain: unknown) => {
      const answer = await app.raw('createOrganizationDomain', { scope, domain }, { token: ada.token, via });
      expect(answer.code, String(domain)).toBe('VALIDATION_ERROR');
      return answer.details.map(({ path, code }) => `${path} ${code}`);
    };
    for (const domain of ['com', 'localhost', 'a b.example', '10.0.0.1', '[::1]', 'http://x.example', '']) {
      expect(await refusedAs(domain), domain).toEqual(['domain format']);
    }
    for (const domain of ['_doorward.example.com', 'a..example.com', '-a.example.com', 'x@example.com']) {
      expect(await refusedAs(domain), domain).toEqual(['domain format']);
    }
    for (const domain of ['co.uk', 'github.io', 'CO.UK.']) {
      expect(await refusedAs(domain), domain).toEqual(['domain not_allowed']);
    }
    expect(await refusedAs(`${'a'.repeat(60)}.`.repeat(4) + 'com')).toEqual(['domain too_long']);
  });

  it('members may read domains; owners and administrators change them', async () => {
    const at = await office();
    const row = await named(at);
    publish(row);
    for (const role of ['Organization Viewer', 'Organization Developer'] as const) {
      const { token } = await member(app, at.scope.id, role);
      const { scope } = at;
      expect((await app.must('organizationDomains', { scope }, { token, via })).items).toHaveLength(1);
      for (const [name, input] of [
        ['createOrganizationDomain', { domain: fresh() }],
        ['verifyOrganizationDomain', { id: row.id }],
        ['deleteOrganizationDomain', { id: row.id }],
      ] as const) {
        expect((await app.raw(name, { scope, ...input }, { token, via })).code, name).toBe('FORBIDDEN');
      }
    }
    const admin = { ...at, ada: await member(app, at.scope.id, 'Organization Admin') };
    expect((await verify(admin, row.id, via)).ok).toBe(true);
  });

  it('a sign-in of long ago is not enough, and no key is', async () => {
    const at = await office();
    const row = await named(at);
    const input = { scope: at.scope, name: 'Robot', kind: 'service' as const };
    const roleIds = (await app.must('roles', { scope: at.scope, isSystem: true, limit: 100 }, at.ada)).items
      .filter(({ name }) => name === 'Organization Admin')
      .map(({ id }) => id);
    const machine = await app.must('createUser', { ...input, roleIds }, at.ada);
    const key = await app.must('createApiKey', { scope: at.scope, userId: machine.id }, at.ada);
    const { clientId, clientSecret, scope } = key;
    const exchanged = await app.must('exchangeApiKey', {
      clientId,
      clientSecret: String(clientSecret),
      scope,
    });
    const byKey = { token: exchanged.accessToken, via };
    expect((await app.call('organizationDomains', { scope: at.scope }, byKey)).ok).toBe(true);
    const change = { scope: at.scope, domain: fresh() };
    expect((await app.call('createOrganizationDomain', change, byKey)).code).toBe('SESSION_REQUIRED');
    app.clock.advance(20 * 60_000);
    const { accessToken, refreshToken } = { accessToken: at.ada.token, refreshToken: at.ada.refreshToken };
    const next = await app.must('refreshSession', { accessToken, refreshToken });
    const late = { token: next.accessToken, via };
    expect((await app.call('createOrganizationDomain', change, late)).code).toBe('STEP_UP_REQUIRED');
    const target = { scope: at.scope, id: row.id };
    expect((await app.call('verifyOrganizationDomain', target, late)).code).toBe('STEP_UP_REQUIRED');
    expect((await app.call('deleteOrganizationDomain', target, late)).code).toBe('STEP_UP_REQUIRED');
  });

  it('a domain is proved by one organization at a time', { tags: 'race' }, async () => {
    const [first, second] = [await office(), await office()];
    const domain = fresh();
    const [mine, theirs] = [await named(first, domain), await named(second, domain)];
    expect(mine.record.value).not.toBe(theirs.record.value);
    // The record of one proves nothing for the other.
    app.records.set(mine.record.name, [mine.record.value]);
    expect((await verify(second, theirs.id, via)).code).toBe('INVALID_STATE');
    app.records.set(mine.record.name, [mine.record.value, theirs.record.value]);
    const answers = await Promise.all([verify(first, mine.id, via), verify(second, theirs.id, via)]);
    expect(answers.map(({ code }) => code).sort()).toEqual(['CONFLICT', null]);
    const winner = answers[0].ok ? first : second;
    const [held, refused] = answers[0].ok ? [mine, theirs] : [theirs, mine];
    const loser = answers[0].ok ? second : first;
    expect((await verify(loser, refused.id, via)).details).toMatchObject([{ path: 'id', code: 'taken' }]);
    // Its deletion makes it free.
    await app.must('deleteOrganizationDomain', { scope: winner.scope, id: held.id }, winner.ada);
    expect((await verify(loser, refused.id, via)).ok).toBe(true);
  });

  it('an organization names a domain once, and twenty domains', { tags: 'race' }, async () => {
    const at = await office();
    const { domain } = await named(at);
    const input = { scope: at.scope, domain };
    const twice = await app.call('createOrganizationDomain', input, { token: at.ada.token, via });
    expect(twice).toMatchObject({ code: 'CONFLICT', details: [{ path: 'domain' }] });
    await Promise.all(Array.from({ length: 18 }, () => named(at)));
    const last = await Promise.all(
      [fresh(), fresh()].map((other) =>
        app.call(
          'createOrganizationDomain',
          { scope: at.scope, domain: other },
          { token: at.ada.token, via },
        ),
      ),
    );
    expect(last.map(({ code }) => code).sort()).toEqual(['CONFLICT', null]);
  });
});

describe('the job', () => {
  it('lets a domain lapse whose record has been gone for three days, tells the owners, and takes it back', async () => {
    const at = await office();
    const viewer = await member(app, at.scope.id, 'Organization Viewer');
    const row = await proved(at);
    app.records.delete(row.record.name);
    // At the next check it is missing, and three days later it lapses.
    for (const day of [1, 2, 3]) expect(await nextDay(), String(day)).toBe(0);
    expect(await statusOf(await again(at), row.id)).toBe('verified');
    expect(await nextDay()).toBe(1);
    expect(await statusOf(await again(at), row.id)).toBe('lapsed');
    await app.app.flushMails();
    const mailed = ({ email }: Person) =>
      app.mails.filter(({ to, subject }) => to === email && subject.includes('has lapsed')).length;
    expect([mailed(at.ada), mailed(viewer)]).toEqual([1, 0]);
    publish(row);
    expect(await nextDay()).toBe(1);
    expect(await statusOf(await again(at), row.id)).toBe('verified');
    expect(await eventsOf(at)).toEqual(['verified', 'lapsed', 'verified']);
  });

  it('forgives a record that was gone for a day', async () => {
    const at = await office();
    const row = await proved(at);
    app.records.delete(row.record.name);
    await nextDay();
    publish(row);
    await nextDay();
    app.records.delete(row.record.name);
    for (let day = 0; day < 3; day++) await nextDay();
    expect(await statusOf(await again(at), row.id)).toBe('verified');
  });

  it('changes nothing while no name server answers', async () => {
    const at = await office();
    const row = await proved(at);
    app.records.set(row.record.name, null);
    for (let day = 0; day < 6; day++) await nextDay();
    const signedIn = await again(at);
    expect(await statusOf(signedIn, row.id)).toBe('verified');
    const answer = await verify(signedIn, row.id);
    expect([answer.code, answer.body]).toEqual(['INVALID_STATE', expect.stringContaining('did not answer')]);
  });

  it('does not take a lapsed domain back from the organization that proved it meanwhile', async () => {
    const [former, next] = [await office(), await office()];
    const row = await proved(former);
    app.records.delete(row.record.name);
    for (let day = 0; day < 4; day++) await nextDay();
    const successor = await again(next);
    const theirs = await named(successor, row.domain);
    app.records.set(row.record.name, [row.record.value, theirs.record.value]);
    expect((await verify(successor, theirs.id)).ok).toBe(true);
    await nextDay();
    expect(await statusOf(await again(former), row.id)).toBe('lapsed');
    expect((await verify(await again(former), row.id)).code).toBe('CONFLICT');
  });

  it('leaves deleted domains and those of deleted organizations alone', async () => {
    const at = await office();
    const row = await proved(at);
    await app.must('deleteOrganization', { scope: at.scope, id: at.scope.id }, at.ada);
    app.records.delete(row.record.name);
    for (let day = 0; day < 5; day++) await nextDay();
    expect(await eventsOf(at)).toEqual(['verified']);
    // And another organization may have the domain.
    await proved(await office(), row.domain);
  });
});
