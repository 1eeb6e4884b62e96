import { and, eq, isNull } from 'drizzle-orm';
import { loadStandings } from '../../access/grants.ts';
import { nodeOfApp, type LiveApp } from '../app-access/app.ts';
import { ownerOf } from '../identity/address.ts';
import { userAsActor } from '../identity/user-node.ts';
import type { Run, UserRow } from '../identity/sign-in.ts';
import { lockClaimants } from '../identity/verification.ts';
import { authenticationMethods } from '../me/authentication-method.ts';
import { watchKeysOfOthers } from '../memberships/outgrown-keys.ts';
import { takePart } from '../memberships/project.ts';
import { roles } from '../roles/role.ts';
import type { Proof } from './flow.ts';
import { admitted, createProved, link, localPart, lockedMethod } from './matching.ts';

/**
 * Who may come in through an app (identity §12), and what is written when he does: a user of its project, or with its
 * sign-up anybody who has shown who he is. That is asked twice: when he has shown it, and again when he consents, which
 * is the first time that anything is written. So whoever turns back leaves nothing behind.
 *
 * An address counts as in `matching.ts`: only a proof makes it somebody's, and claims of others on it end.
 */
export interface Entrant {
  /** Null: he is to be created. */
  readonly user: UserRow | null;
  readonly name: string;
  readonly address: string | null;
  /** He has yet to join the project, with the app's sign-up role. */
  readonly joins: boolean;
  /** His GitHub account has yet to be linked to him. */
  readonly links: boolean;
}

const addressOf = (proof: Proof): string | null =>
  proof.provider === 'email' ? proof.address : proof.identity.address;

/**
 * Null: he may not come in. That a known user may not sign in at all is recorded, and otherwise nothing. Locks account,
 * address and user until commit.
 */
export async function entrantOf(ctx: Run, app: LiveApp, proof: Proof): Promise<Entrant | null> {
  const linked = proof.provider === 'github' ? await lockedMethod(ctx, proof.identity) : undefined;
  const address = addressOf(proof);
  if (!linked && address !== null) await lockClaimants(ctx, address);
  const userId = linked?.userId ?? (address === null ? undefined : (await ownerOf(ctx.tx, address))?.id);
  const user = userId === undefined ? null : await admitted(ctx, userId);
  if (user === undefined) return null;
  const joins = user === null || !(await relates(ctx, app, user));
  const takesAnybody = app.allowSignUp && app.signUpRoleId !== null;
  if ((joins && !takesAnybody) || (user === null && address === null)) {
    ctx.unchanged();
    return null;
  }
  const told = proof.provider === 'github' ? proof.identity.name : null;
  const name = user?.name ?? told ?? localPart(address ?? '');
  return { user, name, address, joins, links: proof.provider === 'github' && !linked };
}

async function relates({ tx }: Run, { owner, tenantId }: LiveApp, user: UserRow): Promise<boolean> {
  const isOrganization = owner.kind === 'organization';
  const scope = {
    accountId: isOrganization ? null : owner.id,
    organizationId: isOrganization ? owner.id : null,
    projectId: tenantId,
  };
  const [standing] = await loadStandings(tx, [{ scope, userId: user.id }]);
  return standing?.related ?? false;
}

/**
 * Lets in whom `entrantOf` has just answered: creates him as `newId`, links his account, joins the project, as far as
 * each is still to be done. False when it cannot be done; the transaction is to be rolled back then.
 */
export async function enter(
  ctx: Run,
  app: LiveApp,
  proof: Proof,
  { user, name, address, joins, links }: Entrant,
  newId: string,
): Promise<boolean> {
  const { tx, services } = ctx;
  const node = nodeOfApp(app);
  const method =
    proof.provider === 'github'
      ? ({ provider: 'github', providerId: proof.identity.id } as const)
      : ({ provider: 'email', providerId: proof.address } as const);
  if (user === null) {
    if (address === null) return false;
    const newcomer = { address, name, locale: null, type: null };
    await createProved(ctx, { newcomer, node, userId: newId }, method);
  } else if (links && proof.provider === 'github') {
    if (address === null || !(await link(ctx, user, proof.identity, address))) return false;
  } else {
    await tx
      .update(authenticationMethods)
      .set({ lastUsedAt: services.clock.now() })
      .where(
        and(
          eq(authenticationMethods.userId, user.id),
          eq(authenticationMethods.provider, method.provider),
          eq(authenticationMethods.providerId, method.providerId),
        ),
      );
  }
  if (!joins) return true;
  const role = await signUpRole(ctx, app);
  const userId = user?.id ?? newId;
  const by = { actor: userAsActor({ id: userId, name }), node };
  if (!role) return false;
  // A member of the project's organization may have keys there before they are a member of the project.
  const endOutgrownKeys = await watchKeysOfOthers(tx, services.builtIns.nouns, app.tenantId);
  const joined = await takePart(ctx, app.tenantId, { userId, given: [role], by });
  (await endOutgrownKeys(ctx.touch)).forEach(ctx.record);
  return joined;
}

/** Share-locked, so that it cannot be deleted as unworn before it is worn. */
async function signUpRole({ tx }: Run, { signUpRoleId }: LiveApp) {
  if (signUpRoleId === null) return undefined;
  const [role] = await tx
    .select({ id: roles.id, tenantId: roles.tenantId })
    .from(roles)
    .where(and(eq(roles.id, signUpRoleId), isNull(roles.deletedAt)))
    .for('share');
  return role;
}
