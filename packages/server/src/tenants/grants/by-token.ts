import { and, eq, isNull, sql } from 'drizzle-orm';
import { z } from 'zod';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { recordingsOf } from '../../members/grant-entries.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import type { Context, Services } from '../../services.ts';
import { iso } from '../../kernel/input/values.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import {
  grantStatus,
  projectGrants,
  ProjectGrantStatus,
  projectGrantTokens,
} from '../../schema/tenants/project-grant.ts';
import { hasTokenHash } from './offer.ts';
import { assertCanReceiveGrant, openSlice, placeOf, readGrant } from './store.ts';

const named = z.object({ name: z.string().describe('Its name.') });

/**
 * An offer as the holder of its link sees it. It names no customer, because the holder decides which organization
 * accepts.
 */
export const ProjectGrantOffer = z
  .object({
    project: named.describe('The project.'),
    owner: named.describe('The organization or person that owns it.'),
    roles: z
      .array(
        z
          .object({
            name: z.string().describe('Its name.'),
            description: z.string().nullable().describe('What it is for.'),
          })
          .meta({ id: 'OfferedRole', description: 'A role that the customer could assign.' }),
      )
      .describe('The roles that you could assign.'),
    status: ProjectGrantStatus.describe('Whether it can be accepted.'),
    expiresAt: iso.nullable().describe('Until when it can be accepted.'),
  })
  .meta({ id: 'ProjectGrantOffer', description: 'A project grant, for the holder of its mailed link.' });

async function findByToken(db: Executor, services: Pick<Services, 'clock'>, token: string) {
  const [row] = await db
    .select({
      id: projectGrants.id,
      projectId: projectGrants.tenantId,
      status: grantStatus(services.clock.now()),
      expiresAt: projectGrants.expiresAt,
    })
    .from(projectGrantTokens)
    .innerJoin(projectGrants, eq(projectGrants.id, projectGrantTokens.grantId))
    .where(and(hasTokenHash(token), isNull(projectGrants.deletedAt)));
  return row;
}

/** @throws NOT_FOUND */
export async function readOffer(
  db: Executor,
  services: Services,
  token: string,
): Promise<z.output<typeof ProjectGrantOffer>> {
  const offer = await findByToken(db, services, token);
  if (!offer) throw fail('NOT_FOUND');
  const { projectName, ownerName } = await placeOf(db, offer.projectId);
  const roles = await rowsOf<{ name: string; description: string | null }>(
    db,
    sql`select r.name, r.description from project_grant_roles g
      join roles r on r.id = g.role_id and r.deleted_at is null
      where g.project_grant_id = ${offer.id}::uuid order by r.name, r.id`,
  );
  const { status, expiresAt } = offer;
  return { project: { name: projectName }, owner: { name: ownerName }, roles, status, expiresAt };
}

type AnsweringRun = Pick<Context, 'tx' | 'services' | 'principal' | 'record' | 'invalidate'> & {
  readonly scope: ResolvedScope;
};

/**
 * Accepts or declines an offer for the organization of the call. Of concurrent answers the first counts; the others
 * find no token. Returns the id of the grant.
 * @throws INVALID_TOKEN, CONFLICT
 */
export const answerOffer = (
  ctx: AnsweringRun,
  token: string,
  answer: 'active' | 'declined',
): Promise<string> =>
  withoutRls(ctx.tx, async () => {
    const { tx, scope, services } = ctx;
    const organizationId = scope.nodeId;
    const offer = await findByToken(tx, services, token);
    if (!offer) throw invalidToken();
    await tx
      .select({ id: projectGrants.id })
      .from(projectGrants)
      .where(eq(projectGrants.id, offer.id))
      .for('update');
    // The offer may have been accepted, declined or mailed again while this call waited for the lock.
    const current = await findByToken(tx, services, token);
    if (current?.status !== 'pending') throw invalidToken();
    const place = await placeOf(tx, offer.projectId);
    const now = services.clock.now();
    if (answer === 'active') {
      await assertCanReceiveGrant(tx, organizationId, place, 'token');
      await openSlice(tx, offer.id, offer.projectId);
    }
    const accepted = { acceptedBy: callerOf(ctx).userId, acceptedAt: now, organizationId };
    await tx
      .update(projectGrants)
      .set({ status: answer, expiresAt: null, updatedAt: now, ...(answer === 'active' ? accepted : {}) })
      .where(eq(projectGrants.id, offer.id));
    await tx.delete(projectGrantTokens).where(eq(projectGrantTokens.grantId, offer.id));
    ctx.invalidate(`node:${offer.projectId}`);
    const grant = await readGrant(tx, { scope, now }, offer.id);
    const event = answer === 'active' ? 'project_grant.accepted' : 'project_grant.declined';
    const changes = { status: { from: 'pending', to: answer } };
    // An organization that declines sees its own name in its log; the owner does not learn which organization declined.
    const forBoth = answer === 'active' ? grant : { ...grant, organizationId };
    const [own, others] = recordingsOf(scope, place.project, forBoth, { event, changes });
    if (own) ctx.record(own);
    if (others) ctx.record(answer === 'active' ? others : withoutCustomer(others));
    return offer.id;
  });

/**
 * Removes the customer from a recording: a declined offer does not reveal which organization its receiver belongs to.
 */
const withoutCustomer = (recording: Parameters<Context['record']>[0]) => ({
  ...recording,
  actor: { type: 'anonymous' as const, id: null, userId: null, name: null },
  data: { ...recording.data, organizationId: null },
});

const invalidToken = () =>
  fail('INVALID_TOKEN', {
    fix: 'The link works once, for seven days: ask the owner of the project for a new one.',
  });
