import express from 'express';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roleIdOf } from '../../../server/src/schema/rights/built-in-ids.ts';
import { appToken } from '../../../server/test/support/sign-in/app-token.ts';
import { chanceFrom } from '../../../server/test/support/cases/chance.ts';
import {
  customerOf,
  grantTo,
  granted,
  vendorOf,
  type Customer,
  type Vendor,
} from '../../../server/test/support/tenants/grants.ts';
import { redirectParameters, signInBrowser } from '../../../server/test/support/sign-in/project-app.ts';
import { visitor } from '../../../server/test/support/app/visitor.ts';
import { composeDoorward, processPorts } from '../../src/doorward.ts';
import { DoorwardError } from '../../src/contracts/errors.ts';
import { guard } from '../../src/express.ts';
import type { DecisionEvent } from '../../src/contracts/hooks.ts';
import type { Doorward } from '../../src/client/doorward.ts';
import type { Scope } from '../../src/contracts/types.ts';
import { serveApp, type ServiceUnderTest } from '../support/service.ts';

/**
 * A vendor's project that is granted to customers: tokens of all of them have one issuer, and people may be users of the
 * vendor and of several customers. A token must not reach further in this process than at the service.
 */
const SEED = Number(process.env['LOCAL_SEED'] ?? 20_261_127);
const chance = chanceFrom(SEED);
const redirectUri = 'https://invoices.example/callback';

interface Bearer {
  readonly title: string;
  readonly token: string;
  /** The scope in which the token is valid. */
  readonly scope: Scope;
}

let service: ServiceUnderTest;
let vendor: Vendor;
let bearers: Bearer[];
let local: Doorward;
let remote: Doorward;
const decisions: DecisionEvent[] = [];
const open: Doorward[] = [];

beforeAll(async () => {
  service = await serveApp({ SECURITY_RATE_LIMIT_ENABLED: 'false' });
  const { app } = service;
  const person = await app.person({ type: 'organization' });
  const organization = await app.must(
    'createOrganization',
    { scope: person.account, name: 'Vendor' },
    { token: person.token },
  );
  const scope = { tenant: 'organization', id: organization.id } as const;
  vendor = await vendorOf(app, { ...person, account: scope });
  const customers = [await customerOf(app), await customerOf(app)];
  for (const customer of customers)
    await grantTo(app, vendor, customer, { features: ['apiKeys', 'webhooks', 'audit'] });
  bearers = await bearersOf({ ...vendor, organization: scope }, customers);

  const credentials = await keyAt(vendor.scope as Scope, vendor.token, roleIdOf('Project Admin'));
  const options = { url: service.url, scope: vendor.scope as Scope, ...credentials };
  const hooks = { onDecision: (event: DecisionEvent) => void decisions.push(event) };
  local = composeDoorward({ ...options, hooks, local: { maxStalenessMs: 60_000 } }, processPorts());
  remote = composeDoorward(options, processPorts());
  open.push(local, remote);
  await local.ready();
}, 120_000);
afterAll(async () => {
  open.forEach((doorward) => doorward.close());
  await service.close();
});

async function keyAt(scope: Scope, token: string, roleId: string) {
  const key = await service.app.must('createApiKey', { scope, name: 'k', roleId }, { token });
  return { clientId: key.clientId, clientSecret: key.clientSecret ?? '' };
}

async function keyTokenAt(scope: Scope, token: string, roleId: string): Promise<string> {
  const credentials = await keyAt(scope, token, roleId);
  return (await service.app.must('exchangeApiKey', { ...credentials, scope })).accessToken;
}

type VendorOrganization = Vendor & {
  readonly organization: { readonly tenant: 'organization'; readonly id: string };
};

/** People with other roles at the vendor than at each customer, each signed in for all of them, and keys of all. */
async function bearersOf(at: VendorOrganization, customers: readonly Customer[]): Promise<Bearer[]> {
  const { app } = service;
  const own = at.scope as Scope;
  const viewer = roleIdOf('Organization Viewer');
  const join = async (scope: Customer['scope'], token: string, person: { email: string; token: string }) => {
    await app.must('inviteMember', { scope, email: person.email, roleId: viewer }, { token });
    await app.must(
      'acceptInvitation',
      { token: await app.mailedToken(person.email) },
      { token: person.token },
    );
  };
  const apps = [];
  for (const accessTokenProfile of ['doorward', 'rfc9068'] as const) {
    const input = { scope: own, name: accessTokenProfile, redirectUris: [redirectUri], firstParty: true };
    apps.push(await app.must('createProjectApp', { ...input, accessTokenProfile }, { token: at.token }));
  }
  const roles = [[], [at.reader], [at.writer]];
  const made: Bearer[] = [];
  for (let index = 0; index < 2; index++) {
    const person = await app.person();
    const { userId } = person;
    await join(at.organization, at.token, person);
    // One of them has the more powerful role at the vendor.
    const roleIds = index === 0 ? [at.writer] : chance.pick(roles);
    await app.must('createUser', { scope: own, userId, roleIds }, { token: at.token });
    for (const customer of customers) {
      await join(customer.scope, customer.token, person);
      const assigned = index === 0 ? [at.reader] : chance.pick(roles.slice(1));
      const input = { scope: granted(customer, at), userId, roleIds: assigned };
      await app.must('createUser', input, { token: customer.token });
    }
    for (const { clientId, id, name } of apps) {
      const title = `person ${index}, ${name}`;
      const token = await appToken(app, { app: { id, clientId, redirectUri }, userId });
      made.push({ title: `${title}, vendor`, token, scope: own });
      for (const customer of customers)
        made.push({
          title: `${title}, customer`,
          token: await signedIn(clientId, person.email, customer),
          scope: granted(customer, at) as Scope,
        });
    }
  }
  for (const roleId of [at.reader, at.writer]) {
    made.push({ title: 'key, vendor', token: await keyTokenAt(own, at.token, roleId), scope: own });
    for (const customer of customers) {
      const scope = granted(customer, at) as Scope;
      made.push({ title: 'key, customer', token: await keyTokenAt(scope, customer.token, roleId), scope });
    }
  }
  return made;
}

async function signedIn(clientId: string, email: string, customer: Customer): Promise<string> {
  const { app, url } = service;
  const browser = signInBrowser(app, { clientId, redirectUri }, visitor(app.server, url));
  await browser.authorize({ organization: customer.id });
  const { code = '' } = redirectParameters(await browser.open(await browser.mail(email)));
  const exchange = { grant_type: 'authorization_code', code, redirect_uri: redirectUri } as const;
  const input = { ...exchange, client_id: clientId, code_verifier: browser.verifier };
  return (await app.must('projectToken', input)).accessToken;
}

/** A decision, or the code of the error. */
const outcome = (answer: Promise<unknown>): Promise<unknown> =>
  answer.catch((error: unknown) => {
    if (error instanceof DoorwardError) return error.code;
    throw error;
  });

describe('a token of a customer', () => {
  it('is decided as at the service, in every scope', async () => {
    const scopes = [undefined, ...new Set(bearers.map(({ scope }) => scope))];
    let crossed = 0;
    for (const { title, token, scope } of bearers) {
      for (const questionScope of scopes) {
        for (const permission of ['invoice:read', 'invoice:write', 'Role:Query']) {
          const options = questionScope && { scope: questionScope };
          const [mine, theirs] = [
            await outcome(local.check(token, permission, {}, options)),
            await outcome(remote.check(token, permission, {}, options)),
          ];
          expect(mine, JSON.stringify({ title, scope, questionScope, permission, seed: SEED })).toEqual(
            theirs,
          );
          if ((questionScope ?? local.scope)?.id !== scope.id && decisions.at(-1)?.local === false) crossed++;
        }
      }
    }
    // Both sides were seen: what the service had to decide, and what this process decided.
    expect(crossed).toBeGreaterThan(0);
    expect(decisions.some((event) => event.local)).toBe(true);
  }, 120_000);

  it('is never decided with the rights at the vendor', async () => {
    for (const { token, scope } of bearers.filter(({ scope }) => scope.id !== vendor.scope.id)) {
      expect(await local.check(token, 'invoice:write')).toEqual({
        authorized: false,
        reason: 'INVALID_SCOPE',
      });
      expect(decisions.at(-1)).toMatchObject({ local: false, fallback: 'token' });
      expect((await local.check(token, 'invoice:read', {}, { scope })).authorized).toBe(true);
    }
  });
});

describe('verifyToken', () => {
  it('takes tokens of the scope alone, unless customers are welcome', async () => {
    for (const doorward of [local, remote]) {
      for (const { title, token, scope } of bearers) {
        const isOwn = scope.id === vendor.scope.id;
        const refused = await outcome(doorward.verifyToken(token).then(() => 'accepted'));
        expect(refused, title).toBe(isOwn ? 'accepted' : 'TOKEN_SCOPE');
        for (const live of [false, true]) {
          const principal = await doorward.verifyToken(token, { anyCustomer: true, live });
          expect(principal.scope, title).toEqual(scope);
          // The local policy lists nothing of customers, so it cannot say that something has not ended.
          if (!live && !isOwn) expect(principal.liveness).toBe('none');
        }
      }
    }
  }, 60_000);

  it('of a guard answers 401 to a customer, also where signing in is enough', async () => {
    const { requireSignedIn, requirePermission } = guard(local);
    const app = express();
    app.get('/me', requireSignedIn(), (_request, response) => void response.json({}));
    app.get('/invoices', requirePermission('invoice:write'), (_request, response) => void response.json({}));
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const statusOf = async (path: string, token: string) =>
      (await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })).status;
    for (const { title, token, scope } of bearers.filter(({ title }) => /person 0|key/.test(title))) {
      const isOwn = scope.id === vendor.scope.id;
      expect(await statusOf('/me', token), title).toBe(isOwn ? 200 : 401);
      if (!isOwn) expect(await statusOf('/invoices', token), title).toBe(401);
    }
    await new Promise<void>((closed) => server.close(() => closed()));
  });

  it('takes the key of a user of the project', async () => {
    const { app } = service;
    const { userId, token } = vendor.person;
    const scope = { tenant: 'projectUser', id: `${vendor.projectId}:${userId}` } as const;
    const key = await app.must('createApiKey', { scope, name: 'mine' }, { token });
    const { clientId, clientSecret } = key;
    const input = { clientId, clientSecret: clientSecret ?? '', scope };
    const { accessToken } = await app.must('exchangeApiKey', input);
    expect((await local.verifyToken(accessToken)).scope).toEqual(scope);
    expect(await local.check(accessToken, 'invoice:write')).toEqual(
      await remote.check(accessToken, 'invoice:write'),
    );
  });
});
