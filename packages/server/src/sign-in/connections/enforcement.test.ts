import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { addressAt, startCompanies, type Companies } from '../../../test/support/tenants/companies.ts';
import { provedDomain, type Connected } from '../../../test/support/databases/connections.ts';
import { memberOf, vendorOf } from '../../../test/support/tenants/grants.ts';
import { redirectParameters, signInBrowser } from '../../../test/support/sign-in/project-app.ts';

/** Organizations that require their identity provider. */
let app: TestApp;
let companies: Companies;
beforeAll(async () => {
  companies = await startCompanies();
  ({ app } = companies);
});
afterAll(() => companies?.close());
beforeEach(() => {
  companies.provider.person = null;
});

/** A session by password with a second factor. */
async function withFactor({ token }: Person): Promise<string> {
  const { factor, secret } = await app.must('createMfaFactor', {}, { token });
  await app.must('verifyMfaFactor', { id: factor.id, code: codeShown(secret, app.clock.now()) }, { token });
  return token;
}

async function bypassMails({ owner }: Connected) {
  await app.app.flushMails();
  return app.mails.filter(
    ({ to, subject }) => to === owner.email && subject.includes('without its identity provider'),
  );
}

describe.each(storyTransports(import.meta))(
  'an organization that insists on its provider, over %s',
  (via) => {
    const read = (acme: Connected, token: string) =>
      app.call('organization', { scope: acme.scope, id: acme.id }, { token, via });

    it('refuses members of its domains who came by another way, at once, and nobody else', async () => {
      const acme = await companies.company();
      const token = await companies.boundSession(acme, addressAt(acme));
      const inside = await companies.memberAt(acme, 'Organization Viewer');
      const outside = await memberOf(app, acme, 'Organization Viewer');
      expect((await read(acme, inside.token)).ok).toBe(true);
      await companies.enforce(acme);
      expect((await read(acme, inside.token)).code).toBe('SSO_REQUIRED');
      const scope = {
        tenant: 'organizationProject' as const,
        id: `${acme.id}:${companies.vendor.projectId}`,
      };
      expect((await app.call('myPermissions', { scope }, { token: inside.token, via })).code).toBe(
        'SSO_REQUIRED',
      );
      for (const allowed of [token, outside.token, acme.token])
        expect((await read(acme, allowed)).ok).toBe(true);
      // Their own account is none of its business.
      const own = await app.call('organizations', { scope: inside.account }, { token: inside.token, via });
      expect(own.ok).toBe(true);
      await companies.enforce(acme, false);
      expect((await read(acme, inside.token)).ok).toBe(true);
    });

    it('lets owners in with two factors, and tells all owners', async () => {
      const acme = await companies.proved();
      const owner = await companies.memberAt(acme, 'Organization Owner');
      await companies.enforce(acme);
      expect((await read(acme, owner.token)).code).toBe('SSO_REQUIRED');
      const strong = await withFactor(owner);
      expect((await read(acme, strong)).ok).toBe(true);
      expect((await read(acme, strong)).ok).toBe(true);
      expect(await bypassMails(acme)).toHaveLength(1);
    });

    it('lets members leave whom it does not let in, and sends its owners no mail', async () => {
      const acme = await companies.proved();
      await companies.enforce(acme);
      const { token, userId } = await companies.memberAt(acme, 'Organization Viewer');
      expect((await read(acme, token)).code).toBe('SSO_REQUIRED');
      await app.must('removeOrganizationMember', { scope: acme.scope, userId }, { token, via });
      expect((await read(acme, token)).code).toBe('FORBIDDEN');
      expect(await bypassMails(acme)).toEqual([]);
    });

    it('gets no grant that an owner accepts who came by another way', async () => {
      const acme = await companies.proved();
      const owner = await companies.memberAt(acme, 'Organization Owner');
      const own = await vendorOf(app, owner);
      const offer = { scope: own.scope, organizationId: acme.id, name: 'Acme', roleIds: [own.reader] };
      const accept = () => app.call('createProjectGrant', offer, { token: owner.token, via });
      await companies.enforce(acme);
      expect((await accept()).code).toBe('NOT_FOUND');
      // Owners with two factors may enter.
      await withFactor(owner);
      expect((await accept()).ok).toBe(true);
    });
  },
);

describe('from the beginning of enforcement', () => {
  it('a code that an app got before is worth nothing, and neither is a session', async () => {
    const acme = await companies.proved();
    const { email } = await companies.memberAt(acme, 'Organization Viewer');
    const renew = await companies.sessionByMail(email);
    const other = await companies.memberAt(acme, 'Organization Viewer', `${unique()}@example.org`);
    const [unused, ofOther] = [await companies.codeByMail(email), await companies.codeByMail(other.email)];
    await companies.enforce(acme);
    expect((await companies.exchange(unused)).status).toBe(400);
    expect(await renew()).toBe(400);
    expect((await companies.exchange(ofOther)).status).toBe(200);
  });

  it('a session of an app does not become one of the organization by a later sign-in of the browser', async () => {
    const acme = await companies.proved();
    const { email } = await companies.memberAt(acme, 'Organization Viewer');
    const browser = signInBrowser(app, companies.shop);
    const renew = await companies.sessionByMail(email, companies.shop, browser);
    await browser.authorize({ prompt: 'login' });
    await browser.post('/api/auth/flow/identifier', { email });
    await companies.throughProvider(browser, acme, email);
    const next = await browser.open(await app.mailedToken(email));
    const end = String(next.headers.location).endsWith('/consent') ? await browser.answer('approve') : next;
    expect(redirectParameters(end).code).toBeDefined();
    await companies.enforce(acme);
    expect(await renew()).toBe(400);
  });

  it('a domain that is verified later counts as well', async () => {
    const acme = await companies.proved();
    const { scope, token } = acme;
    const later = { scope, domain: `${unique()}.example.org` };
    const { id, record } = await app.must('createOrganizationDomain', later, { token });
    const domainIds = [acme.domainId, id];
    await app.must('updateOrganizationConnection', { scope, id: acme.connectionId, domainIds }, { token });
    await companies.enforce(acme);
    const person = await companies.memberAt(acme, 'Organization Viewer', `${unique()}@${later.domain}`);
    const renew = await companies.sessionByMail(person.email);
    const enter = () => app.call('organization', { scope, id: acme.id }, { token: person.token });
    expect((await enter()).ok).toBe(true);

    app.records.set(record.name, [record.value]);
    await app.must('verifyOrganizationDomain', { scope, id }, { token });
    expect((await enter()).code).toBe('SSO_REQUIRED');
    expect(await renew()).toBe(400);
  });

  it('a verified domain that the connection gets later counts as well', async () => {
    const acme = await companies.proved();
    const { scope, token } = acme;
    await companies.enforce(acme);
    const { id, domain } = await provedDomain(app, acme);
    const person = await companies.memberAt(acme, 'Organization Viewer', `${unique()}@${domain}`);
    const renew = await companies.sessionByMail(person.email);
    const domainIds = [acme.domainId, id];
    await app.must('updateOrganizationConnection', { scope, id: acme.connectionId, domainIds }, { token });
    expect(await renew()).toBe(400);
  });
});

it('a sign-in to an app by another way ends at the page that leads to the provider', async () => {
  const acme = await companies.company();
  const address = addressAt(acme);
  await companies.boundSession(acme, address);
  await companies.enforce(acme);
  const browser = signInBrowser(app, companies.shop);
  await browser.authorize();
  await browser.post('/api/auth/flow/identifier', { email: address });
  expect((await browser.page()).body).toContain('Your organization signs in through');
  const next = await browser.open(await browser.mail(address));
  expect(next.headers.location).toMatch(/\/sign-in$/);
  const { body } = await browser.page();
  expect(body).toContain('To reach this organization, sign in through');
  expect(body).toContain(`/api/auth/project/connections/${acme.connectionId}`);
});
