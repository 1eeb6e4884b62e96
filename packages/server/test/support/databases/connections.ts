import { roleIdOf } from '../../../src/schema/rights/built-in-ids.ts';
import type { TestApp } from '../app/app.ts';
import { unique, type CallOptions } from '../app/client.ts';
import { customerOf, type Customer } from '../tenants/grants.ts';
import { clientSecret, type OpenidDouble } from '../sign-in/openid-provider.ts';

/** An organization with a verified domain and its own identity provider. */
export interface Connected extends Customer {
  readonly domain: string;
  readonly domainId: string;
  readonly connectionId: string;
}

/** A verified domain of the organization. */
export async function provedDomain(
  app: TestApp,
  { scope, token }: Customer,
  domain = `${unique()}.example.org`,
) {
  const { id, record } = await app.must('createOrganizationDomain', { scope, domain }, { token });
  app.records.set(record.name, [record.value]);
  await app.must('verifyOrganizationDomain', { scope, id }, { token });
  return { id, domain, record };
}

/** What a connection to this provider is created with. */
export const connectionTo = ({ issuer, entry }: OpenidDouble, domainId: string) => ({
  name: String(entry['name']),
  issuer,
  clientId: String(entry['clientId']),
  clientSecret,
  domainIds: [domainId],
  defaultRoleId: roleIdOf('Organization Viewer'),
});

export async function connected(
  app: TestApp,
  provider: OpenidDouble,
  settings: Record<string, unknown> = {},
  options: CallOptions = {},
): Promise<Connected> {
  const customer = await customerOf(app);
  const { id: domainId, domain } = await provedDomain(app, customer);
  const input = {
    scope: customer.scope,
    ...connectionTo(provider, domainId),
    status: 'active' as const,
    ...settings,
  };
  const as = { token: customer.token, ...options };
  const { id: connectionId } = await app.must('createOrganizationConnection', input, as);
  return { ...customer, domain, domainId, connectionId };
}
