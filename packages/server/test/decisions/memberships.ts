import { sql } from 'drizzle-orm';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import type { TestApp } from '../support/app/app.ts';
import type { Person, Via } from '../support/app/client.ts';

/**
 * Adds people to tenants and removes them: through the API where it has an operation, else as rows. The API adds to a
 * project only people who belong to its owner, except those who sign up through an app.
 */
export interface Joining {
  readonly app: TestApp;
  readonly via: Via;
  /** The person who adds them. */
  readonly token: string;
  readonly scope: ScopeRef;
  readonly roleIds: readonly string[];
  readonly metadata?: Record<string, unknown> | undefined;
}

async function must(app: TestApp, name: string, input: object, token: string, via: Via) {
  const answer = await app.raw(name, input, { token, via });
  if (!answer.ok) throw new Error(`${name} over ${via} failed: ${answer.body}`);
  return answer.data as { id: string };
}

/** Invites the person, who accepts, and sets the metadata of the membership. */
export async function joinOrganization(joining: Joining, person: Person): Promise<void> {
  const { app, via, token, scope, roleIds, metadata } = joining;
  await must(app, 'inviteMember', { scope, email: person.email, roleId: roleIds[0] }, token, via);
  const mailed = await app.mailedToken(person.email);
  await must(app, 'acceptInvitation', { token: mailed }, person.token, via);
  if (metadata) await must(app, 'updateUser', { scope, id: person.userId, metadata }, token, via);
}

/** `related`: whether the API regards the person as one who belongs to the owner of the project. */
export async function joinProject(joining: Joining, userId: string, related: boolean): Promise<void> {
  const { app, via, token, scope, roleIds, metadata = {} } = joining;
  if (!related) return insertParticipant(joining, userId);
  await must(app, 'createUser', { scope, userId, roleIds, metadata }, token, via);
}

/** A managed user, who exists in this tenant only; such a user can be disabled. */
export async function createManaged(joining: Joining, name: string): Promise<string> {
  const { app, via, token, scope, roleIds, metadata = {} } = joining;
  return (await must(app, 'createUser', { scope, name, roleIds, metadata }, token, via)).id;
}

export async function disable({ app, via, token, scope }: Joining, userId: string): Promise<void> {
  await must(app, 'updateUser', { scope, id: userId, status: 'disabled' }, token, via);
}

export async function leave({ app, via, token, scope }: Joining, userId: string): Promise<void> {
  if (scope.tenant === 'organization')
    await must(app, 'removeOrganizationMember', { scope, userId }, token, via);
  else await must(app, 'deleteUser', { scope, id: userId }, token, via);
}

async function insertParticipant({ app, scope, roleIds, metadata = {} }: Joining, userId: string) {
  await execute(
    app,
    sql`insert into project_users (tenant_id, user_id, metadata)
      values (${nodeOf(scope)}, ${userId}::uuid, ${JSON.stringify(metadata)}::jsonb)`,
  );
  for (const roleId of roleIds) {
    await execute(
      app,
      sql`insert into project_user_roles (tenant_id, user_id, role_id, role_tenant_id)
        select ${nodeOf(scope)}, ${userId}::uuid, r.id, r.tenant_id from roles r where r.id = ${roleId}::uuid`,
    );
  }
}

const nodeOf = ({ id }: ScopeRef) => sql`${id.split(':').at(-1)}::uuid`;

const execute = (app: TestApp, statement: ReturnType<typeof sql>) => app.database.pool.execute(statement);
