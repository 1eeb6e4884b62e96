import { and, eq, gt, isNull } from 'drizzle-orm';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { networkOf } from '../../kernel/input/cidrs.ts';
import { serviceRequest } from '../../apps/access/service-itself.ts';
import type { AppRequest } from '../../apps/access/app-request.ts';
import { devicePage } from '../../sign-in/devices/decide-device.ts';
import { deviceAuthorizations } from '../../schema/oauth/device-authorization.ts';
import {
  assertMayEnter,
  countWrongCode,
  shownCode,
  typedCode,
  wrongCode,
} from '../../sign-in/devices/user-code.ts';

/**
 * Finds the waiting device with this user code, and returns the request with which this browser starts its sign-in.
 * Consent is always required, because the user compares the codes on the consent page.
 *
 * @throws INVALID_TOKEN for a wrong code; RATE_LIMITED
 */
export async function requestOfDevice(
  db: Executor,
  services: Services,
  call: Call,
  typed: string,
): Promise<AppRequest> {
  await assertMayEnter(services, call);
  const code = typedCode(typed);
  const isCode =
    code === undefined ? undefined : eq(deviceAuthorizations.userCodeHash, hashOneTimeToken(code));
  const [row] = isCode
    ? await db
        .select()
        .from(deviceAuthorizations)
        .where(
          and(
            isCode,
            isNull(deviceAuthorizations.decision),
            gt(deviceAuthorizations.expiresAt, services.clock.now()),
          ),
        )
    : [];
  if (code === undefined || !row) {
    await countWrongCode(services, call);
    throw wrongCode();
  }
  const { hash, appId, scopes, openidScopes: openid, ipAddress, userAgent, createdAt, organization } = row;
  const device = {
    hash,
    userCode: shownCode(code),
    address: ipAddress,
    isOwnNetwork: ipAddress !== null && networkOf(ipAddress) === call.network,
    userAgent,
    beganAt: createdAt.toISOString(),
  };
  const { appUrl, auth } = services.config;
  const redirectUri = devicePage(appUrl);
  if (appId === null) {
    const allowsSignUp = auth.registrationMode !== 'closed';
    return { ...serviceRequest(redirectUri, { allowsSignUp, takesConnections: false }), device };
  }
  return {
    appId,
    redirectUri,
    challenge: '',
    state: null,
    scopes,
    ...(openid.length > 0 && { openid: { scopes: openid, nonce: null } }),
    ...(organization !== null && { organization }),
    asksConsent: true,
    device,
  };
}
