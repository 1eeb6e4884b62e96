import { z } from 'zod';
import { fail, type DoorwardError } from '../errors.ts';

/**
 * A scope `{tenant, id}` says in which tenant a call happens (conventions §6). It is resolved once, before any other use:
 * every id exists, is not deleted, and the ids of a pair belong together. Operations see only the resolved form.
 */

export const tenants = [
  'account',
  'organization',
  'accountProject',
  'organizationProject',
  'projectUser',
] as const;
/** `installation`: the service as a whole, in which only its operators hold rights. Its node is the system node. */
export type Tenant = (typeof tenants)[number] | 'installation';

/** The id of the installation's scope, and of the node with its audit log and events. */
export const INSTALLATION_ID = '00000000-0000-0000-0000-000000000000';

/** API keys and the token exchange use the spellings in PascalCase; every spelling is accepted everywhere. */
export const tenantSpellings = [
  ...tenants,
  'installation',
  'AccountProject',
  'OrganizationProject',
  'ProjectUser',
  'Organization',
  'Account',
  'Installation',
] as const;
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
  Organization: 'organization',
  Account: 'account',
  installation: 'installation',
  Installation: 'installation',
};
export const canonicalTenant = (spelling: TenantSpelling): Tenant => canonical[spelling];

/** `accountProject` → `AccountProject`: the spelling in answers about API keys. */
export const pascalTenant = (tenant: Tenant): TenantSpelling =>
  (tenant.charAt(0).toUpperCase() + tenant.slice(1)) as TenantSpelling;

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const oneUuid = new RegExp(`^${uuid}$`);
const twoUuids = new RegExp(`^${uuid}:${uuid}$`);
/** Whether the id is a pair: owner and project, or project and user. */
const isPair = (tenant: Tenant): boolean => !['account', 'organization', 'installation'].includes(tenant);

/** Every spelling of a tenant, as one enum in OpenAPI and GraphQL. */
const TenantName = z.enum(tenantSpellings).meta({
  id: 'Tenant',
  description: 'The kind of scope. PascalCase (`OrganizationProject`) is accepted too and means the same.',
});

/** The scope as a caller writes it. `id`: one UUID, or two joined by `:`. */
export const Scope = z
  .strictObject({
    tenant: TenantName,
    id: z.string().max(73).toLowerCase().meta({
      description:
        'One UUID (account, organization, installation), or two joined by `:` (owner:project, project:user).',
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
  .meta({ id: 'ScopeInput', description: 'The tenant in which the call happens.' });
export type ScopeInput = z.output<typeof Scope>;

/** The scope as answers carry it. */
export const ScopeOutput = z
  .object({
    tenant: TenantName,
    id: z.string().describe('One UUID (account, organization, installation), or two joined by `:`.'),
  })
  .meta({ id: 'Scope', description: 'The tenant that something belongs to.' });
export type ScopeRef = z.output<typeof ScopeOutput>;

/** Families of operations that a project grant includes or not. */
export const grantFeatures = ['apiKeys', 'webhooks', 'audit'] as const;
export type GrantFeature = (typeof grantFeatures)[number];

/**
 * The project grant behind a granted scope. Its node, the slice, has the id of the grant and the project as parent. Users,
 * keys, subscriptions, events and audit entries of the customer belong to the slice; roles and what they contain belong to
 * the project, whose owner defines them.
 */
export interface ScopeGrant {
  readonly id: string;
  readonly projectId: string;
  /** The project's own scope, which is the owner's. */
  readonly projectScope: ScopeRef;
  readonly features: readonly GrantFeature[];
  /** The most users with roles; null: no limit. */
  readonly maxUsers: number | null;
}

/** An existing scope. `nodeId` is the tenant node, which rows of this scope have as `tenantId`. */
export interface ResolvedScope {
  readonly tenant: Tenant;
  /** As requested, in lower case. */
  readonly id: string;
  readonly nodeId: string;
  /** The node that owns `nodeId`: a project's account or organization, an organization's account. */
  readonly parentId: string | null;
  readonly accountId: string | null;
  readonly organizationId: string | null;
  readonly projectId: string | null;
  /** Only in `projectUser`. */
  readonly userId: string | null;
  /** The grant by which the organization uses the project of another owner; null in every other scope. */
  readonly grant: ScopeGrant | null;
  /** What conditions read as `organization.metadata`: of the organization, in a granted scope of the grant. */
  readonly organizationMetadata: Readonly<Record<string, unknown>> | null;
  /** The level of the built-in roles that can be assigned here. */
  readonly level: 'account' | 'organization' | 'project' | 'installation';
  /** The account above it, or itself. */
  readonly rootId: string;
  readonly userInProject: boolean;
  readonly accountType: 'personal' | 'organization' | null;
  /** Whether the organization requires a second factor for changes. */
  readonly requireMfa: boolean;
  /** Whether operators of the installation may enter for a member; never true for the installation itself. */
  readonly supportAccess: boolean;
  /** Whether an operator suspended the organization; a granted scope with a suspended side does not exist. */
  readonly isSuspended: boolean;
  /** Domains of addresses whose people enter the organization only through its identity provider. */
  readonly enforcedDomains: readonly string[];
}

/** The same error for a foreign, an unknown and a deleted scope (conventions §6.8). */
export const unknownScope = (): DoorwardError =>
  fail('FORBIDDEN', {
    reason: 'INVALID_SCOPE',
    fix: 'Use a scope that you own or belong to; key and app tokens only reach their own project.',
  });

/** The node whose roles and resources count in the scope: in a granted scope the project, else the node itself. */
export const definingNodeOf = ({
  nodeId,
  grant,
}: Pick<ResolvedScope, 'nodeId'> & { readonly grant?: ScopeGrant | null }): string =>
  grant?.projectId ?? nodeId;

/** The node that has the users of a project: in a granted scope the slice; null outside of projects. */
export const usersNodeOf = ({
  projectId,
  grant,
}: Pick<ResolvedScope, 'projectId'> & { readonly grant?: ScopeGrant | null }): string | null =>
  grant?.id ?? projectId;

/** The camelCase reference to the tenant node of a scope, as events, audit entries and projects show it. */
export function nodeRef(
  scope: Pick<ResolvedScope, 'tenant' | 'id' | 'accountId' | 'organizationId' | 'projectId'>,
): ScopeRef {
  if (scope.tenant !== 'projectUser') return { tenant: scope.tenant, id: scope.id };
  return scope.organizationId
    ? { tenant: 'organizationProject', id: `${scope.organizationId}:${scope.projectId}` }
    : { tenant: 'accountProject', id: `${scope.accountId}:${scope.projectId}` };
}
