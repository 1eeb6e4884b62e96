import { eq } from 'drizzle-orm';
import type { z } from 'zod';
import { noteUse } from '../registration/unused-apps.ts';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { fail, type DoorwardError } from '../../errors.ts';
import type { Services, Run } from '../../services.ts';
import { refuse, type Refusal } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { nodeOfApp, type LiveApp } from '../../apps/access/app.ts';
import { appForMember } from '../../sign-in/admission/sign-in-organization.ts';
import { isOffline } from '../../apps/access/openid-scopes.ts';
import { namedResources, resourcesOf } from '../../apps/access/resources.ts';
import { storeRehash, type Client } from '../tokens/client.ts';
import { hasProjectAccess, invalidGrant, issueTokens, lockAccess, type AppTokens } from '../tokens/issue.ts';
import { canSignIn } from '../../sessions/password-sign-in.ts';
import {
  endingWithAccessToken,
  planSession,
  writeSession,
  type PlannedSession,
} from '../../sessions/sign-in.ts';
import { userAsActor } from '../../people/user-node.ts';
import { lockUser } from '../../people/lock-user.ts';
import { isOwnerOverdue } from '../../sign-in/protection/verification-deadline.ts';
import { deviceAuthorizations } from '../../schema/oauth/device-authorization.ts';
import { isTooEarly } from './interval.ts';

/*
 * Device tokens (RFC 8628 §3.4, §3.5). A device polls until the user has decided; if it polls too often, its interval
 * grows. A device code yields tokens once. The code of another client is treated like an unknown one, and stays valid.
 */

interface DeviceRequest {
  readonly device_code: string;
  readonly resource?: string | readonly string[] | undefined;
}

interface PreparedDevice {
  readonly client: Client;
  readonly hash: string;
  /** Null until the user has approved the device. */
  readonly opening: {
    readonly app: LiveApp;
    readonly userId: string;
    readonly session: PlannedSession;
    readonly tokens: z.output<typeof AppTokens>;
  } | null;
}

const states = {
  authorization_pending: 'Ask again after the interval: the user has not decided yet.',
  slow_down: 'Ask less often: the interval is five seconds longer now.',
  access_denied: 'Stop asking: the user did not allow it, or may not sign in to the app.',
  expired_token: 'Begin again: the codes have expired.',
} as const;

/** OAuth clients get the state as error code (RFC 8628 §3.5). */
const notYet = (state: keyof typeof states): DoorwardError =>
  fail('INVALID_STATE', { params: { state }, fix: states[state] });

/**
 * Finds the authorization of the device code, and prepares session and tokens if the user has approved it.
 *
 * @throws INVALID_TOKEN, VALIDATION_ERROR
 */
export async function prepareDevice(
  db: Executor,
  services: Services,
  client: Client,
  sent: DeviceRequest,
): Promise<PreparedDevice> {
  const { app } = client;
  const hash = hashOneTimeToken(sent.device_code);
  const [row] = await db.select().from(deviceAuthorizations).where(eq(deviceAuthorizations.hash, hash));
  if (row?.appId !== app.id) throw invalidGrant();
  if (await isOwnerOverdue(db, services, app.owner.id)) throw invalidGrant();
  const resources = resourcesOf(app, null, namedResources(sent.resource));
  const { userId, acr, amr, authenticatedAt, consentedScopes: consented, openidScopes: openid } = row;
  if (row.decision !== 'approved' || !userId || !acr || !amr || !authenticatedAt)
    return { client, hash, opening: null };
  const { organizationId, boundTo } = row;
  const placed = await appForMember(db, app, { organizationId, userId });
  // The user can no longer sign in for the organization; the transaction would find the same.
  if (!placed) throw invalidGrant();
  const details = { id: app.id, consented, openid, ssoSessionId: null, resources, organizationId };
  const planned = planSession(services, {
    kind: 'projectApp',
    acr,
    amr,
    authenticatedAt,
    boundTo,
    app: details,
  });
  const session = isOffline(openid) ? planned : endingWithAccessToken(services, planned);
  const facts = { ...session, userId, consented, openid, resources, nonce: null };
  return {
    client,
    hash,
    opening: { app: placed, userId, session, tokens: await issueTokens(db, services, placed, facts) },
  };
}

/**
 * Opens the session of an approved device, or returns why there is none yet. A used or denied code is refused for good.
 */
export async function exchangeDevice(
  ctx: Run,
  { client, hash, opening }: PreparedDevice,
): Promise<z.output<typeof AppTokens> | Refusal> {
  const { tx, services } = ctx;
  const { app } = opening ?? client;
  await storeRehash(ctx, client);
  const user = opening && (await lockUser(ctx, opening.userId));
  const appExists = !opening || (await lockAccess(tx, app, opening.userId));
  const isDevice = eq(deviceAuthorizations.hash, hash);
  const [row] = await tx.select().from(deviceAuthorizations).where(isDevice).for('update');
  // Another request of the device was faster.
  if (!row) throw invalidGrant();
  const now = services.clock.now();
  if (row.expiresAt <= now) return refuse(notYet('expired_token'));
  if (row.decision === 'denied') return refuse(notYet('access_denied'));
  if (!opening) return refuse(notYet((await isTooEarly(ctx, row)) ? 'slow_down' : 'authorization_pending'));
  await tx.delete(deviceAuthorizations).where(isDevice);
  const common = { node: nodeOfApp(app), target: { type: 'ProjectApp', id: app.id } };
  const metadata = { clientId: app.clientId, userId: opening.userId, grant: 'device' };
  const maySignIn =
    appExists && user && canSignIn(user) && (await hasProjectAccess(tx, services, app, opening.userId));
  if (!maySignIn) {
    ctx.record({
      ...common,
      outcome: 'failed',
      code: 'INVALID_TOKEN',
      metadata: { ...metadata, fault: 'user' },
    });
    return refuse(invalidGrant());
  }
  ctx.record({ ...common, actor: userAsActor(user), metadata });
  await noteUse(ctx, app);
  await writeSession(ctx, opening.session, user);
  return opening.tokens;
}
