import { and, eq, isNull } from 'drizzle-orm';
import { loadSubjects } from '../../access/grants/grants.ts';
import { nodeOfApp, type LiveApp } from '../../apps/access/app.ts';
import { isServiceItself } from '../../apps/access/service-itself.ts';
import { organizationsOf } from './sign-in-organization.ts';
import { findAddressOwner } from '../../people/address.ts';
import { userAsActor } from '../../people/user-node.ts';
import type { Run, Services } from '../../services.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { lockClaimants } from '../../people/address-claims.ts';
import { authenticationMethods } from '../../schema/sign-in/authentication-method.ts';
import { watchForExcessKeys } from '../../members/excess-keys/excess-keys.ts';
import { admitMember, connectedMember, type ConnectedMember } from '../connections/member-admission.ts';
import { organizationNode } from '../../members/organization.ts';
import { addProjectUser } from '../../members/project.ts';
import { roles } from '../../schema/rights/role.ts';
import { lockSsoSession } from '../sso/lock.ts';
import type { Proof } from '../flow/flow-data.ts';
import { methodOfIdentity, providerKeyOf, type Identity } from '../../providers/provider.ts';
import { admitToSlice } from './organization-decision.ts';
import {
  createVerifiedUser,
  hasMaximumMethods,
  linkAccount,
  localPart,
  lockLinkedMethod,
  lockSignInUser,
} from '../federation/match-identity.ts';

/**
 * A person who has proved their identity and may sign in to an app (identity §12): a user of its project, a member of
 * an organization that can use the project, or any person if the app allows sign-up. This is decided at sign-in and
 * again at consent. Before consent, no user, linked account or membership is created.
 *
 * As in `match-identity.ts`, only a proof makes a person the owner of an address, and other users' claims on it end.
 */
export interface SignInCandidate {
  /** Null if the user has yet to be created. */
  readonly user: UserRow | null;
  readonly name: string;
  readonly address: string | null;
  /** Whether the user will join the project with the app's sign-up role. */
  readonly joins: boolean;
  /** Whether the account at the provider will be linked to the user. */
  readonly links: boolean;
  /** Set if they sign in through a connection of an organization; they then sign in for that organization only. */
  readonly member?: ConnectedMember;
}

/** The proof that a person controls an account at a provider. */
export const proofOf = (identity: Identity): Proof => ({
  provider: methodOfIdentity(identity).provider,
  identity,
});

/** The address that the proof shows; null if it shows none or names a user instead. */
export function addressOf(proof: Proof): string | null {
  if ('identity' in proof) return proof.identity.address;
  return proof.provider === 'email' ? proof.address : null;
}

/**
 * Decides who signs in. Returns null if the person may not sign in to the app, or cannot link another account. A
 * refusal is recorded only for an existing user who may not sign in anywhere. Locks account, address and user until
 * commit.
 */
export async function resolveCandidate(
  ctx: Run,
  app: LiveApp,
  proof: Proof,
): Promise<SignInCandidate | null> {
  const candidate = await findCandidate(ctx, app, proof);
  if (candidate === null || !(await lacksRoom(ctx, candidate))) return candidate;
  ctx.unchanged();
  return null;
}

/** Whether the account cannot be linked, because the user has the maximum number of sign-in methods. */
export const lacksRoom = async ({ tx }: Run, { user, links }: SignInCandidate): Promise<boolean> =>
  user !== null && links && hasMaximumMethods(tx, user.id);

/** Like `resolveCandidate`, but also returns a user who cannot link another account. */
export async function findCandidate(ctx: Run, app: LiveApp, proof: Proof): Promise<SignInCandidate | null> {
  const identity = 'identity' in proof ? proof.identity : undefined;
  const linked = identity && (await lockLinkedMethod(ctx, identity));
  const address = addressOf(proof);
  if (!linked && address !== null) await lockClaimants(ctx, address);
  const ownerId = linked?.userId ?? ('userId' in proof ? proof.userId : undefined);
  const userId = ownerId ?? (address === null ? undefined : (await findAddressOwner(ctx.tx, address))?.id);
  const user = userId === undefined ? null : await lockSignInUser(ctx, userId);
  if (user === undefined) return null;
  if (proof.provider === 'sso' && !(await lockSsoSession(ctx, proof.sessionId))) {
    ctx.unchanged();
    return null;
  }
  if (identity?.connection)
    return resolveForConnection(ctx, app, { proof, identity, user, isLinked: !!linked });
  if (isServiceItself(app)) return resolveForService(ctx, app, { proof, user, links: !linked });
  if (await isSuspended(ctx, app)) {
    ctx.unchanged();
    return null;
  }
  const joins = user === null || !(await belongsToProject(ctx, app, user));
  const allowsSignUp =
    app.allowSignUp && app.signUpRoleId !== null && (user !== null || createsUsers(ctx.services, identity));
  const organizations = user && joins && !allowsSignUp ? await organizationsOf(ctx.tx, app, user.id) : [];
  const isAdmissible = !joins || allowsSignUp || organizations.length > 0;
  if (!isAdmissible || (user === null && address === null)) {
    ctx.unchanged();
    return null;
  }
  const name = user?.name ?? statedName(proof) ?? localPart(address ?? '');
  return { user, name, address, joins, links: identity !== undefined && !linked };
}

/** People who come through an organization's own provider sign in for that organization. */
async function resolveForConnection(
  ctx: Run,
  app: LiveApp,
  {
    proof,
    identity,
    user,
    isLinked,
  }: {
    readonly proof: Proof;
    readonly identity: Identity;
    readonly user: UserRow | null;
    readonly isLinked: boolean;
  },
): Promise<SignInCandidate | null> {
  const member = await connectedMember(ctx, app, identity, { user, isLinked });
  if (!member || (!isServiceItself(app) && (await isSuspended(ctx, app)))) {
    ctx.unchanged();
    return null;
  }
  const { address } = identity;
  const name = user?.name ?? statedName(proof) ?? localPart(address ?? '');
  return { user, name, address, joins: false, links: !isLinked, member };
}

/**
 * Every user may sign in to this service itself. A person who is not a user yet becomes one if registration is open.
 */
function resolveForService(
  ctx: Run,
  app: LiveApp,
  { proof, user, links }: { readonly proof: Proof; readonly user: UserRow | null; readonly links: boolean },
): SignInCandidate | null {
  const identity = 'identity' in proof ? proof.identity : undefined;
  const address = addressOf(proof);
  const maySignUp = app.allowSignUp && address !== null && createsUsers(ctx.services, identity);
  if (user === null && !maySignUp) {
    ctx.unchanged();
    return null;
  }
  const name = user?.name ?? statedName(proof) ?? localPart(address ?? '');
  return { user, name, address, joins: false, links: identity !== undefined && links };
}

/** Whether people from this provider may become users; without a provider they may. */
const createsUsers = ({ identityProviders }: Services, identity: Identity | undefined): boolean =>
  identity === undefined || identityProviders.at(providerKeyOf(identity), 'app').allowSignUp;

/** The name of a new user, as stated by themselves or by their provider. */
export function statedName(proof: Proof): string | null {
  if (proof.provider === 'email') return proof.newUser?.name ?? null;
  return 'identity' in proof ? proof.identity.name : null;
}

/** Whether an operator suspended the organization of the app; no user can then sign in to it. */
async function isSuspended({ tx, services }: Run, app: LiveApp): Promise<boolean> {
  return (await services.resolver.scopeOf(app.scope, tx))?.isSuspended ?? false;
}

async function belongsToProject({ tx }: Run, { owner, tenantId }: LiveApp, user: UserRow): Promise<boolean> {
  const isOrganization = owner.kind === 'organization';
  const scope = {
    accountId: isOrganization ? null : owner.id,
    organizationId: isOrganization ? owner.id : null,
    projectId: tenantId,
  };
  const [subject] = await loadSubjects(tx, [{ scope, userId: user.id }]);
  return subject?.related ?? false;
}

/**
 * Admits the candidate: creates the user with the id `newId`, links the account, and joins the project, as far as each
 * is needed. Returns false if that is impossible; the caller must then roll back.
 */
export async function admitToApp(
  ctx: Run,
  app: LiveApp,
  proof: Proof,
  { user, name, address, joins, links, member }: SignInCandidate,
  newId: string,
): Promise<boolean> {
  const { tx, services } = ctx;
  const node = nodeOfApp(app);
  const method = methodOf(proof);
  if (user === null) {
    if (address === null || method === null) return false;
    const { locale = null, passwordHash: hash = null } = (proof.provider === 'email' && proof.newUser) || {};
    const user = { userId: newId, hash };
    const person = member
      ? {
          ...user,
          node: organizationNode(member.connection.organizationId),
          registrant: { address, name, locale, type: null },
        }
      : isServiceItself(app)
        ? { ...user, registrant: { address, name, locale, type: 'personal' as const } }
        : { ...user, node, registrant: { address, name, locale, type: null } };
    await createVerifiedUser(ctx, person, method);
  } else if (links && 'identity' in proof) {
    if (address === null || !(await linkAccount(ctx, user, proof.identity, address))) return false;
  } else if (method !== null) {
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
  if (member) {
    const person = { id: user?.id ?? newId, name };
    return (await admitMember(ctx, member, person)) && admitToSlice(ctx, app, person);
  }
  if (!joins) return user === null || admitToSlice(ctx, app, user);
  const role = await signUpRole(ctx, app);
  const userId = user?.id ?? newId;
  const by = { actor: userAsActor({ id: userId, name }), node };
  if (!role) return false;
  // A member of the project's organization may have had keys in the project before joining it.
  const endExcessKeys = await watchForExcessKeys(tx, services.builtIns.nouns, app.tenantId);
  const joined = await addProjectUser(ctx, app.tenantId, { userId, roles: [role], by });
  (await endExcessKeys(ctx.invalidate)).forEach(ctx.record);
  return joined;
}

/**
 * The sign-in method that the proof uses. Null for a passkey, which is not a sign-in method, and for a former sign-in.
 */
function methodOf(proof: Proof) {
  if (proof.provider === 'sso' || proof.provider === 'passkey') return null;
  return 'identity' in proof
    ? methodOfIdentity(proof.identity)
    : ({ provider: 'email', providerKey: null, providerId: proof.address } as const);
}

/** The sign-up role, share-locked so that it cannot be deleted before it is assigned. */
async function signUpRole({ tx }: Run, { signUpRoleId }: LiveApp) {
  if (signUpRoleId === null) return undefined;
  const [role] = await tx
    .select({ id: roles.id, tenantId: roles.tenantId })
    .from(roles)
    .where(and(eq(roles.id, signUpRoleId), isNull(roles.deletedAt)))
    .for('share');
  return role;
}
