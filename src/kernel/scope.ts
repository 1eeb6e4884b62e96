import { z } from 'zod';
import { fail, type DoorwardError } from '../errors.ts';

/**
 * A scope says *where* a call happens: `{tenant, id}`. It is resolved once, before anything else reads it
 * (every id exists, is live, and the pair belongs together); a run sees only the resolved form.
 * Spec "Scope object", conventions §6.
 */

export const tenants = [
  'account',
  'organization',
  'accountProject',
  'organizationProject',
  'projectUser',
] as const;
export type Tenant = (typeof tenants)[number];

/** The last three are those of the API-key scope table and of the token exchange; every form is accepted everywhere. */
export const tenantSpellings = [...tenants, 'AccountProject', 'OrganizationProject', 'ProjectUser'] as const;
export type TenantSpelling = (typeof tenantSpellings)[number];

const canonical: Readonly<Record<TenantSpelling, Tenant>> = {
  account: 'account',
  organization: 'organization',
  accountProject: 'accountProject',
  organizationProject: 'organizationProject',
  projectUser: 'projectUser',
  AccountProject: 'accountProject',
  OrganizationProject: 'organizationProject',
  ProjectUser: 'projectUser',
};
export const canonicalTenant = (spelling: TenantSpelling): Tenant => canonical[spelling];

/** `accountProject` → `AccountProject`: the spelling that API keys answer with. */
export const pascalTenant = (tenant: Tenant): TenantSpelling =>
  (tenant.charAt(0).toUpperCase() + tenant.slice(1)) as TenantSpelling;

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const oneUuid = new RegExp(`^${uuid}$`);
const twoUuids = new RegExp(`^${uuid}:${uuid}$`);
/** The ids of an owner's project and of a project's user are pairs. */
const isPair = (tenant: Tenant): boolean => tenant !== 'account' && tenant !== 'organization';

/** Every spelling of a tenant, in one enum of the documents. */
export const TenantName = z.enum(tenantSpellings).meta({
  id: 'Tenant',
  description: 'The kind of scope. PascalCase (`OrganizationProject`) is accepted too and means the same.',
});

/** The scope as a caller writes it. `id`: one UUID, or two joined by `:`. */
export const Scope = z
  .strictObject({
    tenant: TenantName,
    id: z.string().max(73).toLowerCase().meta({
      description: 'One UUID (account, organization), or two joined by `:` (owner:project, project:user).',
    }),
  })
  .check((ctx) => {
    const form = isPair(canonicalTenant(ctx.value.tenant)) ? twoUuids : oneUuid;
    if (form.test(ctx.value.id)) return;
    ctx.issues.push({
      code: 'custom',
      path: ['id'],
      message: 'scope id',
      params: { code: 'format' },
      input: ctx.value.id,
    });
  })
  .meta({ id: 'ScopeInput', description: 'Where the call happens.' });
export type ScopeInput = z.output<typeof Scope>;

/** The scope as answers carry it. */
export const ScopeOutput = z
  .object({
    tenant: TenantName,
    id: z.string().describe('One UUID (account, organization), or two joined by `:`.'),
  })
  .meta({ id: 'Scope', description: 'Where something lives.' });
export type ScopeRef = z.output<typeof ScopeOutput>;

/** A scope that exists. `nodeId` is the tenant node that rows of this scope carry as `tenantId`. */
export interface ResolvedScope {
  readonly tenant: Tenant;
  /** Lower case, as asked for. */
  readonly id: string;
  readonly nodeId: string;
  /** The node that owns `nodeId`: a project's account or organization, an organization's account. */
  readonly parentId: string | null;
  readonly accountId: string | null;
  readonly organizationId: string | null;
  readonly projectId: string | null;
  /** Only in `projectUser`. */
  readonly userId: string | null;
  /** Which built-in roles belong here. */
  readonly level: 'account' | 'organization' | 'project';
}

/** One answer for a scope that is foreign, unknown or deleted, whenever that is noticed (conventions §6.8). */
export const unknownScope = (): DoorwardError =>
  fail('FORBIDDEN', {
    reason: 'INVALID_SCOPE',
    fix: 'Use a scope that you own or belong to; key and app tokens only reach their own project.',
  });

/** The camelCase reference of a scope's tenant node, as events, audit and projects show it. */
export function nodeRef(scope: ResolvedScope): ScopeRef {
  if (scope.tenant !== 'projectUser') return { tenant: scope.tenant, id: scope.id };
  return scope.organizationId
    ? { tenant: 'organizationProject', id: `${scope.organizationId}:${scope.projectId}` }
    : { tenant: 'accountProject', id: `${scope.accountId}:${scope.projectId}` };
}
