import type { Api, Scope } from '@doorward/node';
import { exitCodes } from '../exit-codes.ts';
import { Fault, usageFault } from '../fault.ts';
import type { Flags } from '../settings/flags.ts';
import type { Settings } from '../settings/settings.ts';

/** Returns the scope of a run. Slugs in flags, and the account of `--account`, are looked up in the service. */
export async function lookUpScope(
  { org, account, project }: Flags,
  settings: Settings,
  openApi: () => Promise<Api>,
): Promise<Scope | undefined> {
  if (org === undefined && !account && project === undefined) return settings.namedScope();
  const api = await openApi();
  const owner =
    org !== undefined ? await organizationOf(api, org) : account ? await ownAccount(api) : undefined;
  if (project === undefined) return owner;
  return projectOf(api, owner ?? ownerOf(await settings.namedScope()), project);
}

async function ownAccount(api: Api): Promise<Scope> {
  const { accounts } = await api.me();
  const [account, ...more] = accounts;
  if (!account) throw missing('You have no account.');
  if (more.length > 0)
    throw usageFault(
      'You have several accounts.',
      `name one: ${accounts.map(({ id, type }) => `-s account:${id} (${type})`).join(', ')}`,
    );
  return { tenant: 'account', id: account.id };
}

async function organizationOf(api: Api, slug: string): Promise<Scope> {
  const { accounts, memberships } = await api.me();
  for (const { organizationId: id } of memberships) {
    const organization = await api.organization({ id, scope: { tenant: 'organization', id } });
    if (organization.slug === slug) return { tenant: 'organization', id };
  }
  for (const { id } of accounts) {
    const own = api.organizations.each({ search: slug, scope: { tenant: 'account', id } });
    for await (const row of own) if (row.slug === slug) return { tenant: 'organization', id: row.id };
  }
  throw missing('You are in no organization with this slug.', 'doorward whoami names your organizations');
}

function ownerOf(scope: Scope | undefined): Scope {
  const [id = ''] = scope?.id.split(':') ?? [];
  if (scope?.tenant === 'organization' || scope?.tenant === 'organizationProject')
    return { tenant: 'organization', id };
  if (scope?.tenant === 'account' || scope?.tenant === 'accountProject') return { tenant: 'account', id };
  throw usageFault('Whose project? --project needs an owner.', 'add --org <slug> or --account');
}

async function projectOf(api: Api, owner: Scope, slug: string): Promise<Scope> {
  const scope = owner as { tenant: 'account' | 'organization'; id: string };
  for await (const row of api.projects.each({ search: slug, scope })) if (row.slug === slug) return row.scope;
  throw missing('There is no project with this slug.', 'doorward projects list');
}

const missing = (message: string, hint?: string): Fault =>
  new Fault(exitCodes.notFound, 'NOT_FOUND', message, hint);
