import { SYSTEM_NODE } from './nodes.ts';

/**
 * Row-level security: what an operation may see and write of each table, by the database's own rule (decision 0018).
 * `src/db/tenant-role.ts` brings it to the server, `src/db/rls.ts` says in whose name a statement runs.
 *
 * The reach of a statement is the node of its resolved scope, with nodes that its transaction has made; in a project
 * scope the owner's roles and members can be read too. A table that is not named here is out of reach: its rows are for
 * the service alone.
 *
 * In a release a policy may only let more through than before: the version that runs beside it during an upgrade
 * works by the same policies.
 */
export const POLICY_REVISION = 1;

/** The settings that the functions read; nothing in them reaches nothing. */
export const REACH_SETTING = 'doorward.tenants';
export const OWNER_SETTING = 'doorward.owner';

/** In a scalar subselect each is computed once a statement, and an index can be searched by it. */
const REACH = 'any ((select doorward_reach())::uuid[])';
const OWNER = '(select doorward_owner())';
const SYSTEM = `'${SYSTEM_NODE}'::uuid`;

export const functions = `
create or replace function doorward_reach() returns uuid[] language sql stable parallel safe
  as $$ select coalesce(string_to_array(nullif(current_setting('${REACH_SETTING}', true), ''), ',')::uuid[], '{}') $$;
create or replace function doorward_owner() returns uuid language sql stable parallel safe
  as $$ select nullif(current_setting('${OWNER_SETTING}', true), '')::uuid $$`;

/** Conditions on a row, in SQL. */
export interface RowPolicy {
  /** Rows that can be read, and locked. */
  readonly read: string;
  /** Rows as they may be after an insert or update, and those that may be deleted; not there: none. */
  readonly write?: string;
  /** Columns that may be changed, by default all but `id` and `tenant_id`: no row is moved. */
  readonly changes?: readonly string[];
  /** What else may be done to what `write` allows; by default both. */
  readonly adds?: boolean;
  readonly removes?: boolean;
}

const mine = `tenant_id = ${REACH}`;
const own: RowPolicy = { read: mine, write: mine };
/** Roles and what they hold: also the built-in ones, and those of a project's owner, whose roles its keys may wear. */
const ofRights: RowPolicy = {
  read: `tenant_id = ${REACH} or tenant_id = ${SYSTEM} or tenant_id = ${OWNER}`,
  write: mine,
};
/** A part of a row of another table, which has a policy of its own. */
const partOf = (table: string, column: string): RowPolicy => {
  const ofVisible = `exists (select 1 from ${table} whole where whole.id = ${column} and whole.tenant_id = ${REACH})`;
  return { read: ofVisible, write: ofVisible };
};
/** What was done in a scope, and in the projects below it. Only ever added to, and by the service. */
const told: RowPolicy = {
  read: `tenant_id = ${REACH} or tenant_id = any (array(
    select n.id from nodes n where n.parent_id = ${REACH} and n.kind = 'project'))`,
};

export const rowPolicies: Readonly<Record<string, RowPolicy>> = {
  nodes: {
    read: `id = ${REACH} or parent_id = ${REACH} or id = ${OWNER}`,
    write: `id = ${REACH} or parent_id = ${REACH}`,
    // A row can be locked by who may change a column of it; counters are the recorder's.
    changes: ['policy_version'],
    removes: false,
  },
  accounts: {
    read: `id = ${REACH} or id = ${OWNER}`,
    write: 'false',
    changes: ['updated_at'],
    adds: false,
    removes: false,
  },
  organizations: {
    // An account lists those that its owner is a member of, beside its own.
    read: `id = ${REACH} or account_id = ${REACH} or id = ${OWNER}
      or exists (select 1 from organization_members m where m.tenant_id = organizations.id)`,
    write: `id = ${REACH}`,
    removes: false,
  },
  projects: {
    read: `id = ${REACH} or owner_id = ${REACH}`,
    write: `id = ${REACH} or owner_id = ${REACH}`,
    removes: false,
  },
  // Whoever belongs to the tenant or is managed by it, and whom a row of it names.
  users: {
    read: `managed_by = ${REACH}
      or exists (select 1 from organization_members m where m.user_id = users.id)
      or exists (select 1 from project_users p where p.user_id = users.id)
      or exists (select 1 from accounts a where a.owner_id = users.id)
      or exists (select 1 from organization_invitations i where i.invited_by = users.id)
      or exists (select 1 from api_keys k where k.user_id = users.id)`,
    write: `managed_by = ${REACH}`,
    changes: ['name', 'picture_url', 'status', 'updated_at'],
    removes: false,
  },
  organization_members: {
    read: `tenant_id = ${REACH} or tenant_id = ${OWNER}
      or user_id in (select a.owner_id from accounts a where a.id = ${REACH})`,
    write: mine,
  },
  project_users: own,
  project_user_roles: own,
  roles: ofRights,
  groups: ofRights,
  permissions: ofRights,
  resources: ofRights,
  role_groups: ofRights,
  group_permissions: ofRights,
  tags: own,
  role_tags: own,
  group_tags: own,
  permission_tags: own,
  resource_tags: own,
  user_tags: own,
  organization_tags: own,
  project_tags: own,
  project_app_tags: own,
  api_keys: own,
  api_key_secrets: partOf('api_keys', 'key_id'),
  organization_invitations: own,
  organization_invitation_tokens: partOf('organization_invitations', 'invitation_id'),
  project_apps: own,
  signing_keys: own,
  signing_key_secrets: partOf('signing_keys', 'key_id'),
  webhook_subscriptions: own,
  webhook_secrets: own,
  webhook_deliveries: own,
  webhook_attempts: own,
  audit_log: told,
  events: told,
};

/** Tables that no operation of a scope touches by itself, and why: the role of a scope has no right to them at all. */
export const outOfReach: Readonly<Record<string, string>> = {
  account_failures: 'of a person who signs in',
  authentication_methods: 'of a person; whose an address is, is asked beyond the scope',
  cli_codes: 'of a person who signs in',
  failed_attempts: 'of a person who signs in',
  idempotency_keys: 'answers, kept by the service around an operation',
  installation: 'of the installation',
  known_networks: 'of a person',
  mails: 'sealed; queued beyond the scope and sent by a job',
  mfa_attempts: 'of a person',
  mfa_factors: 'of a person',
  mfa_recovery_codes: 'of a person',
  notification_preferences: 'of a person',
  notifications: 'of a person, written by the relay',
  one_time_tokens: 'of a person',
  passwords: 'of a person',
  pictures: 'of a person',
  project_codes: 'of a person who signs in to an app',
  sessions: 'of a person; those with an app end beyond the scope',
  sign_in_flows: 'of a browser that signs in',
};
