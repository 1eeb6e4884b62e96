/*
 * The row policies: which rows of each table an operation may read and write (decision 0018).
 * `src/db/tenancy/tenant-role.ts` installs them on the server; `src/db/tenancy/rls.ts` sets the session identity.
 *
 * A statement can access the node of its resolved scope and the nodes that its transaction has created. In a project
 * scope it can also read the roles, members and service users of the project's owner; in a granted scope the roles of
 * the project and of the customer, and the customer's members. Only the service can access a table without an entry
 * here.
 */

import { SYSTEM_NODE } from '../../schema/nodes.ts';

/**
 * Increment this number with every change of the policies. A release may only widen a policy, never narrow it, because
 * during an upgrade the previous version runs under the same policies.
 */
export const POLICY_REVISION = 8;

/** Session settings that the policy functions read. A setting without a value matches no row. */
export const TENANTS_SETTING = 'doorward.tenants';
export const OWNER_SETTING = 'doorward.owner';
/** Set in a granted scope: the customer, whose members use the slice. */
export const CUSTOMER_SETTING = 'doorward.customer';

/** Scalar subselects, because PostgreSQL evaluates each once per statement and can use it in an index search. */
const ANY_TENANT = 'any ((select doorward_reach())::uuid[])';
const OWNER = '(select doorward_owner())';
const CUSTOMER = '(select doorward_customer())';
const SYSTEM = `'${SYSTEM_NODE}'::uuid`;

export const policyFunctions = `
create or replace function doorward_reach() returns uuid[] language sql stable parallel safe
  as $$ select coalesce(string_to_array(nullif(current_setting('${TENANTS_SETTING}', true), ''), ',')::uuid[], '{}') $$;
create or replace function doorward_owner() returns uuid language sql stable parallel safe
  as $$ select nullif(current_setting('${OWNER_SETTING}', true), '')::uuid $$;
create or replace function doorward_customer() returns uuid language sql stable parallel safe
  as $$ select nullif(current_setting('${CUSTOMER_SETTING}', true), '')::uuid $$`;

/** SQL conditions on the rows of a table. */
export interface RowPolicy {
  /** Rows that can be read and locked. */
  readonly read: string;
  /** Rows that an insert or update may produce, and that may be deleted. If absent, none. */
  readonly write?: string;
  /** Columns that may be updated. Default: all except `id` and `tenant_id`, so that no row moves to another tenant. */
  readonly updatableColumns?: readonly string[];
  /** Whether rows that `write` matches may be inserted. Default: true. */
  readonly canInsert?: boolean;
  /** Whether rows that `write` matches may be deleted. Default: true. */
  readonly canDelete?: boolean;
}

const ofTenant = `tenant_id = ${ANY_TENANT}`;
const ofTenantOnly: RowPolicy = { read: ofTenant, write: ofTenant };
/**
 * For roles and their contents. Built-in roles, and those of a project's owner, are included, because project keys may
 * have such roles.
 */
const ofRolesAndGrants: RowPolicy = {
  read: `tenant_id = ${ANY_TENANT} or tenant_id = ${SYSTEM} or tenant_id = ${OWNER} or tenant_id = ${CUSTOMER}`,
  write: ofTenant,
};
/** For rows that are part of a row in another table; the tenant of that row decides. */
const partOf = (table: string, column: string): RowPolicy => {
  const ofVisible = `exists (select 1 from ${table} whole where whole.id = ${column} and whole.tenant_id = ${ANY_TENANT})`;
  return { read: ofVisible, write: ofVisible };
};
/** For the history of a scope and of the projects below it. Only the service writes it. */
const ofHistory: RowPolicy = {
  read: `tenant_id = ${ANY_TENANT} or tenant_id = any (array(
    select n.id from nodes n where n.parent_id = ${ANY_TENANT} and n.kind = 'project'))`,
};

export const rowPolicies: Readonly<Record<string, RowPolicy>> = {
  nodes: {
    read: `id = ${ANY_TENANT} or parent_id = ${ANY_TENANT} or id = ${OWNER}`,
    write: `id = ${ANY_TENANT} or parent_id = ${ANY_TENANT}`,
    // PostgreSQL allows a row lock only with the update privilege on some column. Only the recorder writes the
    // counters.
    updatableColumns: ['policy_version'],
    canDelete: false,
  },
  accounts: {
    read: `id = ${ANY_TENANT} or id = ${OWNER}`,
    write: 'false',
    updatableColumns: ['updated_at'],
    canInsert: false,
    canDelete: false,
  },
  organizations: {
    // An account also lists the organizations in which its owner is a member.
    read: `id = ${ANY_TENANT} or account_id = ${ANY_TENANT} or id = ${OWNER}
      or exists (select 1 from organization_members m where m.tenant_id = organizations.id)`,
    write: `id = ${ANY_TENANT}`,
    // Does not include `suspended_at`: only an operator of the installation ends a suspension.
    updatableColumns: [
      'created_at',
      'updated_at',
      'deleted_at',
      'account_id',
      'name',
      'slug',
      'require_mfa_for_sensitive_actions',
      'metadata',
      'support_access',
      'logo_url',
      'primary_color',
    ],
    canDelete: false,
  },
  projects: {
    read: `id = ${ANY_TENANT} or owner_id = ${ANY_TENANT}`,
    write: `id = ${ANY_TENANT} or owner_id = ${ANY_TENANT}`,
    canDelete: false,
  },
  // Users who are members of the tenant or managed by it, and users that its rows refer to.
  users: {
    read: `managed_by = ${ANY_TENANT}
      or exists (select 1 from organization_members m where m.user_id = users.id)
      or exists (select 1 from account_service_users s where s.user_id = users.id)
      or exists (select 1 from project_users p where p.user_id = users.id)
      or exists (select 1 from accounts a where a.owner_id = users.id)
      or exists (select 1 from organization_invitations i where i.invited_by = users.id)
      or exists (select 1 from api_keys k where k.user_id = users.id)`,
    write: `managed_by = ${ANY_TENANT}`,
    updatableColumns: ['name', 'picture_url', 'status', 'updated_at'],
    canDelete: false,
  },
  organization_members: {
    read: `tenant_id = ${ANY_TENANT} or tenant_id = ${OWNER} or tenant_id = ${CUSTOMER}
      or user_id in (select a.owner_id from accounts a where a.id = ${ANY_TENANT})`,
    write: ofTenant,
  },
  account_service_users: {
    read: `tenant_id = ${ANY_TENANT} or tenant_id = ${OWNER}`,
    write: ofTenant,
  },
  // Visible to the owner, to the customer and in the slice itself. Only the owner writes it; the customer's decisions
  // are written by the service.
  project_grants: {
    read: `tenant_id = ${ANY_TENANT} or organization_id = ${ANY_TENANT} or id = ${ANY_TENANT}`,
    write: ofTenant,
    canDelete: false,
  },
  project_grant_roles: {
    read: `tenant_id = ${ANY_TENANT} or project_grant_id = ${ANY_TENANT}
      or exists (select 1 from project_grants g where g.id = project_grant_id)`,
    write: ofTenant,
  },
  project_grant_tokens: partOf('project_grants', 'grant_id'),
  project_users: ofTenantOnly,
  project_user_roles: ofTenantOnly,
  policy_versions: ofTenantOnly,
  policy_documents: ofTenantOnly,
  roles: ofRolesAndGrants,
  groups: ofRolesAndGrants,
  permissions: ofRolesAndGrants,
  resources: ofRolesAndGrants,
  role_groups: ofRolesAndGrants,
  group_permissions: ofRolesAndGrants,
  tags: ofTenantOnly,
  role_tags: ofTenantOnly,
  group_tags: ofTenantOnly,
  permission_tags: ofTenantOnly,
  resource_tags: ofTenantOnly,
  user_tags: ofTenantOnly,
  organization_tags: ofTenantOnly,
  project_tags: ofTenantOnly,
  project_app_tags: ofTenantOnly,
  api_keys: ofTenantOnly,
  api_key_secrets: partOf('api_keys', 'key_id'),
  organization_invitations: ofTenantOnly,
  organization_domains: ofTenantOnly,
  organization_connections: ofTenantOnly,
  organization_invitation_tokens: partOf('organization_invitations', 'invitation_id'),
  project_apps: ofTenantOnly,
  logos: ofTenantOnly,
  signing_keys: ofTenantOnly,
  signing_key_secrets: partOf('signing_keys', 'key_id'),
  webhook_subscriptions: ofTenantOnly,
  webhook_secrets: ofTenantOnly,
  webhook_deliveries: ofTenantOnly,
  webhook_attempts: ofTenantOnly,
  audit_log: ofHistory,
  events: ofHistory,
};

/** Tables on which the tenant role has no privileges, each with the reason. */
export const serviceOnlyTables: Readonly<Record<string, string>> = {
  account_failures: 'belongs to a user who signs in',
  app_grants: 'belongs to a user; read when they sign in',
  authentication_methods:
    'belongs to a user; the owner of an address is looked up without row-level security',
  cli_codes: 'belongs to a user who signs in',
  device_authorizations: 'belongs to a user who signs in on a device',
  factor_resets: 'belongs to a user; written by an operator',
  failed_attempts: 'belongs to a user who signs in',
  first_user_tokens: 'belongs to the installation',
  idempotency_keys: 'answers that the service stores outside of the operation',
  installation: 'belongs to the installation',
  known_networks: 'belongs to a user',
  logout_notices: 'about a session of a user; queued by the end of the session and sent by a job',
  mails: 'sealed; queued without row-level security and sent by a job',
  mfa_attempts: 'belongs to a user',
  mfa_factors: 'belongs to a user',
  mfa_recovery_codes: 'belongs to a user',
  notification_preferences: 'belongs to a user',
  notifications: 'belongs to a user; written by the relay',
  one_time_tokens: 'belongs to a user',
  operators: 'belongs to the installation',
  passkey_challenges: 'belongs to a browser that signs in',
  passkey_handles: 'belongs to a user',
  passkeys: 'belongs to a user',
  passwords: 'belongs to a user',
  pictures: 'belongs to a user',
  prepared_operators: 'belongs to the installation',
  project_codes: 'belongs to a user who signs in to an app',
  sessions: 'belongs to a user; sessions with an app are ended without row-level security',
  sign_in_flows: 'belongs to a browser that signs in',
  step_outcomes: 'belongs to a browser that signs in',
};
