import { sql } from 'drizzle-orm';
import { rowsOf } from '../../../db/statements/rows.ts';
import { withoutRls } from '../../../db/tenancy/rls.ts';
import { fail } from '../../../errors.ts';
import { authenticationMethods, passwords } from '../../../schema/sign-in/authentication-method.ts';
import { users, type UserRow } from '../../../schema/people/user.ts';
import { projectUserRoles, projectUsers } from '../../../schema/rights/membership.ts';
import { rolesToAssign, type MembershipRun, type RoleRef } from '../../../members/role-assignment.ts';
import { projectUserData } from '../../../members/project.ts';
import { userData } from '../../../sessions/sign-in.ts';
import type { Run } from '../../../services.ts';
import type { ImportedUser } from './imported-user.ts';

type ImportRun = MembershipRun & Pick<Run, 'call'>;

interface Outcome {
  readonly email: string;
  readonly status: 'created' | 'exists' | 'claimed';
  /** Null for a user who was not created because of `changesNothing`, and for an unverified claim. */
  readonly id: string | null;
}

/**
 * Creates the users whose address is free, with their password and membership of the project, in a fixed number of
 * statements. A second call with the same users changes nothing, so an interrupted import can be started again.
 * @throws NOT_FOUND, PRIVILEGE_ESCALATION about the roles, CONFLICT
 */
export async function importUsers(
  ctx: ImportRun,
  imported: readonly ImportedUser[],
  { changesNothing }: { readonly changesNothing: boolean },
): Promise<Outcome[]> {
  const roles = await rolesToAssign(ctx, [...new Set(imported.flatMap(({ roleIds }) => roleIds))]);
  await lockAddresses(ctx, imported);
  // Addresses, sign-in methods and passwords are not rows of a tenant.
  const holders = await withoutRls(ctx.tx, () => holdersOf(ctx, imported));
  const created = new Map<string, string>();
  const free = imported.filter(({ email }) => !holders.has(email));
  if (!changesNothing && free.length > 0) {
    for (const user of free) created.set(user.email, ctx.services.ids.next());
    await createAll(ctx, free, created, new Map(roles.map((role) => [role.id, role])));
  }
  return imported.map(({ email }) => {
    const holder = holders.get(email);
    if (!holder) return { email, status: 'created', id: created.get(email) ?? null };
    return holder.isVerified
      ? { email, status: 'exists', id: holder.id }
      : { email, status: 'claimed', id: null };
  });
}

const listOf = (imported: readonly ImportedUser[]) =>
  sql`(select json_array_elements_text(${JSON.stringify(imported.map(({ email }) => email))}::json))`;

/**
 * Takes the locks of `lockAddress` for all of the addresses. The order is always the same, so that no deadlock
 * occurs.
 */
const lockAddresses = ({ tx }: ImportRun, imported: readonly ImportedUser[]): PromiseLike<unknown> =>
  tx.execute(sql`select pg_advisory_xact_lock(key) from (
    select distinct hashtextextended(address, 0) as key from ${listOf(imported)} a(address) order by key) keys`);

interface Holder {
  readonly address: string;
  readonly id: string;
  readonly isVerified: boolean;
}

/** Returns, by address, the user who has verified the address or registered with it. */
async function holdersOf({ tx }: ImportRun, imported: readonly ImportedUser[]) {
  const rows = await rowsOf<Holder>(
    tx,
    sql`select distinct on (m.label) m.label as address, m.user_id as id, m.is_verified as "isVerified"
      from authentication_methods m
      where m.label in ${listOf(imported)} and (m.is_verified or (m.provider = 'email' and m.claims))
      order by m.label, m.is_verified desc, m.created_at`,
  );
  return new Map(rows.map((row) => [row.address, row]));
}

async function createAll(
  ctx: ImportRun,
  imported: readonly ImportedUser[],
  idOf: ReadonlyMap<string, string>,
  roles: ReadonlyMap<string, RoleRef>,
): Promise<void> {
  const { tx, services, scope, record } = ctx;
  const { clock, config } = services;
  const deadline = new Date(clock.now().getTime() + config.auth.verificationGraceDays * 86_400_000);
  const people = imported.map((user) => ({ ...user, id: idOf.get(user.email) as string }));
  const rows = await withoutRls(tx, () => insertPeople(ctx, people, deadline));
  const { nodeId } = scope;
  await tx
    .insert(projectUsers)
    .values(people.map(({ id, metadata }) => ({ tenantId: nodeId, userId: id, metadata })));
  const assignments = people.flatMap(({ id, roleIds }) =>
    roleIds.map((roleId) => ({
      tenantId: nodeId,
      userId: id,
      roleId,
      roleTenantId: (roles.get(roleId) as RoleRef).tenantId,
    })),
  );
  if (assignments.length > 0) await tx.insert(projectUserRoles).values(assignments);
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  for (const { id, roleIds } of people) {
    const target = { type: 'User', id };
    record({ event: 'user.created', data: userData(rowOf.get(id) as UserRow), target, audited: true });
    record({ event: 'project.user_added', data: projectUserData(nodeId, id, roleIds), target });
  }
}

type Person = ImportedUser & { readonly id: string };

/** Inserts users, sign-in methods and passwords. @throws CONFLICT */
async function insertPeople(
  { tx, services: { ids } }: ImportRun,
  people: readonly Person[],
  deadline: Date,
): Promise<UserRow[]> {
  const rows = await tx
    .insert(users)
    .values(
      people.map(({ id, email, emailVerified, name, locale }) => ({
        id,
        name: name ?? (email.split('@')[0] as string),
        email,
        emailVerified,
        locale,
        verificationDeadline: emailVerified ? null : deadline,
      })),
    )
    .returning();
  const methods = await tx
    .insert(authenticationMethods)
    .values(
      people.map(({ id, email, emailVerified }) => ({
        id: ids.next(),
        userId: id,
        provider: 'email' as const,
        providerId: email,
        label: email,
        isVerified: emailVerified,
        isPrimary: true,
        claims: true,
      })),
    )
    .onConflictDoNothing()
    .returning({ id: authenticationMethods.id });
  if (methods.length < people.length) throw fail('CONFLICT', { fix: 'Send the same users again.' });
  const hashes = people.flatMap(({ id, passwordHash }) =>
    passwordHash === undefined ? [] : [{ userId: id, hash: passwordHash }],
  );
  if (hashes.length > 0) await tx.insert(passwords).values(hashes);
  return rows;
}
