/*
 * A scope `{tenant, id}` names the tenant in which a call happens (conventions §6). It is resolved once, before any
 * other use: the tenant must exist and not be deleted, and if `id` is a pair such as `owner:project`, its two ids must
 * belong together. Operations see only the resolved form.
 */

import { z } from 'zod';
import { fail, type DoorwardError } from '../errors.ts';

export const tenants = [
  'account',
  'organization',
  'accountProject',
  'organizationProject',
  'projectUser',
] as const;
/**
 * A kind of scope. `installation` is the service as a whole, in which only its operators have rights. Its node is the
 * system node.
 */
export type Tenant = (typeof tenants)[number] | 'installation';

/** The id of the installation's scope, and of the node with its audit log and events. */
export const INSTALLATION_ID = '00000000-0000-0000-0000-000000000000';

/**
 * All accepted spellings. API keys and the token exchange use PascalCase, but every spelling is accepted everywhere.
 */
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

/** Converts `accountProject` to `AccountProject`, the spelling in outputs about API keys. */
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

/** The scope as a caller writes it. `id` is one UUID, or two joined by `:`. */
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

/** The scope as it appears in outputs. */
export const ScopeOutput = z
  .object({
    tenant: TenantName,
    id: z.string().describe('One UUID (account, organization, installation), or two joined by `:`.'),
  })
  .meta({ id: 'Scope', description: 'The tenant that something belongs to.' });
export type ScopeRef = z.output<typeof ScopeOutput>;

/** Groups of operations that a project grant can include. */
export const grantFeatures = ['apiKeys', 'webhooks', 'audit'] as const;
export type GrantFeature = (typeof grantFeatures)[number];

/**
 * The project grant behind a granted scope. Its node, the slice, has the grant's id and the project as parent. Users,
 * keys, subscriptions, events and audit entries of the customer belong to the slice. Roles and their contents belong to
 * the project, whose owner defines them.
 */
export interface ScopeGrant {
  readonly id: string;
  readonly projectId: string;
  /** The scope in which the owner uses the project. */
  readonly projectScope: ScopeRef;
  readonly features: readonly GrantFeature[];
  /** The maximum number of users with roles; null for no limit. */
  readonly maxUsers: number | null;
}

/** A scope that exists. `nodeId` is its tenant node, which rows of this scope have as `tenantId`. */
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
  /** Set only for `projectUser`. */
  readonly userId: string | null;
  /** The grant through which the organization uses another owner's project; null in any other scope. */
  readonly grant: ScopeGrant | null;
  /**
   * The metadata that conditions read as `organization.metadata`: the organization's, or in a granted scope the
   * grant's.
   */
  readonly organizationMetadata: Readonly<Record<string, unknown>> | null;
  /** The level of the built-in roles that can be assigned here. */
  readonly level: 'account' | 'organization' | 'project' | 'installation';
  /** The account above the node, or the node itself if it is an account. */
  readonly rootId: string;
  /** Whether the user of a `projectUser` scope is in the project; true in every other scope. */
  readonly userInProject: boolean;
  readonly accountType: 'personal' | 'organization' | null;
  /** Whether the organization requires a second factor for changes. */
  readonly requireMfa: boolean;
  /** Whether operators of the installation may act for a member; never true for the installation itself. */
  readonly supportAccess: boolean;
  /**
   * Whether an operator suspended the organization. If one side of a grant is suspended, its granted scope does not
   * exist.
   */
  readonly isSuspended: boolean;
  /** Domains whose addresses may enter the organization only through its identity provider. */
  readonly enforcedDomains: readonly string[];
}

/** The error for a scope that is foreign, unknown or deleted; it is the same for all of them (conventions §6.8). */
export const unknownScope = (): DoorwardError =>
  fail('FORBIDDEN', {
    reason: 'INVALID_SCOPE',
    fix: 'Use a scope that you own or belong to; key and app tokens only reach their own project.',
  });

/** The node whose roles and resources apply in the scope: in a granted scope the project, else the node itself. */
export const definingNodeOf = ({
  nodeId,
  grant,
}: Pick<ResolvedScope, 'nodeId'> & { readonly grant?: ScopeGrant | null }): string =>
  grant?.projectId ?? nodeId;

/**
 * The node to which a project's users belong: in a granted scope the slice, else the project; null outside projects.
 */
export const usersNodeOf = ({
  projectId,
  grant,
}: Pick<ResolvedScope, 'projectId'> & { readonly grant?: ScopeGrant | null }): string | null =>
  grant?.id ?? projectId;

/** The camelCase reference to a scope's tenant node, as shown in events, audit entries and projects. */
export function nodeRef(
  scope: Pick<ResolvedScope, 'tenant' | 'id' | 'accountId' | 'organizationId' | 'projectId'>,
): ScopeRef {
  if (scope.tenant !== 'projectUser') return { tenant: scope.tenant, id: scope.id };
  return scope.organizationId
    ? { tenant: 'organizationProject', id: `${scope.organizationId}:${scope.projectId}` }
    : { tenant: 'accountProject', id: `${scope.accountId}:${scope.projectId}` };
}
