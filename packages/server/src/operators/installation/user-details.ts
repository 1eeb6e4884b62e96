import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { rowsOf } from '../../db/statements/rows.ts';
import { iso, uuid } from '../../kernel/input/values.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { AccountType } from '../../schema/people/account.ts';
import { Provider } from '../../schema/sign-in/authentication-method.ts';
import { SessionKind } from '../../schema/sign-in/session.ts';
import { InstallationUser } from '../../schema/operators/installation-user.ts';

/** The maximum number of sessions, memberships and projects in the response; the other lists are short. */
const MAX_ROWS = 100;

const NamedRole = z
  .object({ id: uuid.describe('Id of the role.'), name: z.string().describe('Name of the role.') })
  .meta({ id: 'NamedRole', description: 'A role by its name; what it holds is not shown.' });

const Method = z
  .object({
    provider: Provider.describe('The provider that verifies the identity.'),
    label: z.string().describe('The address that the method proves.'),
    isVerified: z.boolean().describe('Whether the address is verified.'),
    isPrimary: z.boolean().describe('Whether it is the address of the user.'),
    lastUsedAt: iso.nullable().describe('When the user last signed in with it.'),
  })
  .meta({ id: 'InstallationMethod', description: 'A sign-in method of a user.' });

const Factor = z
  .object({
    type: z.literal('totp').describe('The kind of factor.'),
    isEnabled: z.boolean().describe('Whether it is needed to sign in.'),
    createdAt: iso.describe('When it was created.'),
    lastUsedAt: iso.nullable().describe('When one of its codes was last used.'),
  })
  .meta({ id: 'InstallationFactor', description: 'A second factor of a user.' });

const OpenSession = z
  .object({
    id: uuid.describe('Id of the session.'),
    kind: SessionKind.describe('What is signed in.'),
    acr: z.enum(['aal1', 'aal2']).describe('How many factors the user gave.'),
    createdAt: iso.describe('When the user signed in.'),
    lastUsedAt: iso.describe('When the tokens were last renewed.'),
    expiresAt: iso.describe('When the session ends unless its tokens are renewed.'),
  })
  .meta({ id: 'InstallationSession', description: 'A session of a user.' });

const Membership = z
  .object({
    organizationId: uuid.describe('Id of the organization.'),
    organizationName: z.string().describe('Its name.'),
    role: NamedRole.describe('The role of the user there.'),
  })
  .meta({ id: 'InstallationMembership', description: 'A membership in an organization.' });

const Participation = z
  .object({
    projectId: uuid.describe('Id of the project.'),
    projectName: z.string().describe('Its name.'),
    roles: z.array(NamedRole).describe('The roles of the user there.'),
  })
  .meta({ id: 'InstallationParticipation', description: 'A project that a user belongs to.' });

const OwnedAccount = z
  .object({ id: uuid.describe('Id of the account.'), type: AccountType.describe('What it may hold.') })
  .meta({ id: 'InstallationOwnedAccount', description: 'An account of a user.' });

export const InstallationUserDetails = InstallationUser.schema
  .extend({
    methods: z.array(Method).describe('Their sign-in methods, with the state of each address.'),
    factors: z.array(Factor).describe('Their second factors.'),
    recoveryCodesLeft: z.int().describe('How many recovery codes are unused.'),
    sessions: z.array(OpenSession).describe(`Their open sessions, the last used first, ${MAX_ROWS} at most.`),
    accounts: z.array(OwnedAccount).describe('Their accounts.'),
    memberships: z.array(Membership).describe(`Their organizations, ${MAX_ROWS} at most.`),
    projects: z.array(Participation).describe(`Their projects, ${MAX_ROWS} at most.`),
    keyCount: z
      .int()
      .describe('How many unrevoked API keys they have: keys that act as them and keys they created.'),
    isOperator: z.boolean().describe('Whether they are an operator of the installation.'),
  })
  .meta({
    id: 'InstallationUserDetails',
    description: 'A user of the installation with what belongs to them.',
  });

type Details = Omit<
  z.output<typeof InstallationUserDetails>,
  keyof z.output<typeof InstallationUser.schema> | 'isOperator'
>;

/** Reads a user's details in one statement. Leaves out sessions that have ended, or have expired by `now`. */
export async function readDetails(tx: Executor, userId: string, now: Date): Promise<Details> {
  const id = sql`${userId}::uuid`;
  const [row] = await rowsOf<{ details: Details }>(
    tx,
    sql`select json_build_object(
      'methods', coalesce((select json_agg(json_build_object('provider', m.provider, 'label', m.label,
          'isVerified', m.is_verified, 'isPrimary', m.is_primary, 'lastUsedAt', m.last_used_at) order by m.created_at)
        from authentication_methods m where m.user_id = ${id}), '[]'::json),
      'factors', coalesce((select json_agg(json_build_object('type', f.type, 'isEnabled', f.is_enabled,
          'createdAt', f.created_at, 'lastUsedAt', f.last_used_at) order by f.created_at)
        from mfa_factors f where f.user_id = ${id}), '[]'::json),
      'recoveryCodesLeft', (select count(*)::int from mfa_recovery_codes c where c.user_id = ${id}),
      'sessions', coalesce((select json_agg(s) from (
        select s.id, s.kind, s.acr, s.created_at as "createdAt", s.last_used_at as "lastUsedAt",
          s.expires_at as "expiresAt"
        from sessions s where s.user_id = ${id} and s.ended_at is null
          and s.expires_at > ${now.toISOString()}::timestamptz
        order by s.last_used_at desc, s.id limit ${MAX_ROWS}) s), '[]'::json),
      'accounts', coalesce((select json_agg(json_build_object('id', a.id, 'type', a.type) order by a.created_at)
        from accounts a where a.owner_id = ${id} and a.deleted_at is null), '[]'::json),
      'memberships', coalesce((select json_agg(m) from (
        select o.id as "organizationId", o.name as "organizationName",
          json_build_object('id', r.id, 'name', r.name) as role
        from organization_members m join organizations o on o.id = m.tenant_id and o.deleted_at is null
          join roles r on r.id = m.role_id
        where m.user_id = ${id} order by m.created_at, o.id limit ${MAX_ROWS}) m), '[]'::json),
      'projects', coalesce((select json_agg(p) from (
        select p.id as "projectId", p.name as "projectName", coalesce((
            select json_agg(json_build_object('id', r.id, 'name', r.name) order by r.name)
            from project_user_roles a join roles r on r.id = a.role_id
            where a.tenant_id = u.tenant_id and a.user_id = u.user_id), '[]'::json) as roles
        from project_users u join projects p on p.id = u.tenant_id and p.deleted_at is null
        where u.user_id = ${id} order by u.created_at, p.id limit ${MAX_ROWS}) p), '[]'::json),
      'keyCount', (select count(*)::int from api_keys k
        where k.user_id = ${id} and k.revoked_at is null and k.deleted_at is null)
    ) as details`,
  );
  if (!row) throw new Error('a select without from has one row');
  return withDates(row.details) as Details;
}

/** Converts the times in a value from JSON, where they are text, to dates. */
const withDates = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(withDates)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value).map(([key, member]) => [
            key,
            key.endsWith('At') && typeof member === 'string' ? new Date(member) : withDates(member),
          ]),
        )
      : value;
