import { and, eq, isNull, ne } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { ORGANIZATION_OWNER } from '../../schema/rights/built-in-ids.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import { organizations } from '../../schema/tenants/organization.ts';
import { users } from '../../schema/people/user.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { OperatorAct } from '../../schema/operators/operator.ts';
import { organizationMembers } from '../../schema/rights/membership.ts';
import { activeOperators } from '../../people/operators.ts';
import { idIn, type DraftResult, type RuleInput } from './notification-draft.ts';

/** Notifies all operators that an operator or the command line added an operator. */
export async function onOperatorAdded({ tx, event, operators }: RuleInput): DraftResult {
  const id = idIn(event, 'id');
  const [person] = await tx.select({ name: users.name }).from(users).where(eq(users.id, id));
  const { reason } = event.body.data as { reason?: string | null };
  // Only operators added in this way have a reason, not the first user of a development installation or the users in
  // OPERATORS.
  if (!person || typeof reason !== 'string') return undefined;
  return {
    type: 'operator_action',
    userIds: await activeOperators(tx, operators),
    words: { act: 'operatorAdded', subject: person.name, reason },
    target: { type: 'Operator', id },
    namedUserId: id,
  };
}

/**
 * Notifies the other owners of the organizations that a suspended user owns, because they must take over. The user gets
 * a mail instead, because they cannot read notifications.
 */
async function aboutOwner(tx: Executor, id: string, reason: string): DraftResult {
  const [person] = await tx.select({ name: users.name }).from(users).where(eq(users.id, id));
  const theirs = alias(organizationMembers, 'theirs');
  const others = await tx
    .selectDistinct({ id: organizationMembers.userId })
    .from(organizationMembers)
    .innerJoin(
      theirs,
      and(
        eq(theirs.tenantId, organizationMembers.tenantId),
        eq(theirs.userId, id),
        eq(theirs.roleId, ORGANIZATION_OWNER),
      ),
    )
    .where(and(eq(organizationMembers.roleId, ORGANIZATION_OWNER), ne(organizationMembers.userId, id)));
  if (!person || others.length === 0) return undefined;
  return {
    type: 'operator_action',
    userIds: others.map((owner) => owner.id),
    words: { act: 'userSuspended', subject: person.name, reason },
    target: { type: 'User', id },
    namedUserId: id,
  };
}

/** Notifies the user on whom an operator acted, or the owners of the organization on which an operator acted. */
export async function onOperatorAct({ tx, event }: RuleInput): DraftResult {
  const id = idIn(event, 'id');
  const { act, reason, targetType } = event.body.data as {
    act?: OperatorAct;
    reason?: string;
    targetType?: string;
  };
  if (!act || reason === undefined) return undefined;
  if (act === 'userSuspended') return aboutOwner(tx, id, reason);
  if (targetType === 'User') {
    const words = { act, subject: '', reason };
    return { type: 'operator_action', userIds: [id], words, target: { type: 'User', id } };
  }
  const organization = await liveOrganization(tx, id);
  if (!organization) return undefined;
  return {
    type: 'operator_action',
    userIds: await ownersOf(tx, id),
    words: { act, subject: organization.name, reason },
    target: { type: 'Organization', id },
  };
}

/** Notifies a user that an operator acts for them. The same event in the log of the installation notifies no user. */
export async function onImpersonated({ event }: RuleInput): DraftResult {
  const { userId, reason } = event.body.data as { userId?: string; reason?: string | null };
  if (event.tenantId === SYSTEM_NODE || userId === undefined || typeof reason !== 'string') return undefined;
  return {
    type: 'impersonated',
    userIds: [userId],
    words: { organization: '', person: '', reason },
    target: { type: 'Session', id: idIn(event, 'id') },
  };
}

/** Notifies the owners of an organization that an operator entered it for a member. */
export async function onEntered({ tx, event }: RuleInput): DraftResult {
  const { userId, reason } = event.body.data as { userId?: string; reason?: string | null };
  const { tenantId } = event;
  if (userId === undefined || typeof reason !== 'string') return undefined;
  const [person] = await tx.select({ name: users.name }).from(users).where(eq(users.id, userId));
  const organization = await liveOrganization(tx, tenantId);
  if (!person || !organization) return undefined;
  return {
    type: 'impersonated',
    userIds: await ownersOf(tx, tenantId),
    words: { organization: organization.name, person: person.name, reason },
    target: { type: 'Organization', id: tenantId },
    namedUserId: userId,
  };
}

async function liveOrganization(tx: Executor, id: string): Promise<{ readonly name: string } | undefined> {
  const [organization] = await tx
    .select({ name: organizations.name })
    .from(organizations)
    .where(and(eq(organizations.id, id), isNull(organizations.deletedAt)));
  return organization;
}

export async function ownersOf(tx: Executor, organizationId: string): Promise<string[]> {
  const owners = await tx
    .select({ id: organizationMembers.userId })
    .from(organizationMembers)
    .where(
      and(
        eq(organizationMembers.tenantId, organizationId),
        eq(organizationMembers.roleId, ORGANIZATION_OWNER),
      ),
    );
  return owners.map(({ id }) => id);
}
