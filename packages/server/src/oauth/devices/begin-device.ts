import { z } from 'zod';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { fail } from '../../errors.ts';
import { nodeOfApp, type LiveApp } from '../../apps/access/app.ts';
import { parseScopes } from '../../apps/access/openid-scopes.ts';
import { storeRehash, type Client } from '../tokens/client.ts';
import type { Run } from '../../services.ts';
import { deviceAuthorizations } from '../../schema/oauth/device-authorization.ts';
import { newUserCode, shownCode } from '../../sign-in/devices/user-code.ts';
import { devicePage } from '../../sign-in/devices/decide-device.ts';

/** The response to the first request of a device (RFC 8628 §3.1, openid §10). */
export const DeviceCodes = z
  .object({
    device_code: z.string().describe('What the device sends to the token endpoint, and never shows.'),
    user_code: z.string().describe('What the device shows, and the user enters.'),
    verification_uri: z.url().describe('Where the user enters it.'),
    verification_uri_complete: z.url().describe('The same with the code, for a QR code.'),
    expires_in: z.int().describe('Seconds until both codes end.'),
    interval: z.int().describe('Seconds between two requests at the token endpoint.'),
  })
  .meta({ id: 'DeviceCodes', description: 'The codes of a device without a browser (RFC 8628 §3.2).' });

const DEVICE_SECONDS = 600;
const INTERVAL_SECONDS = 5;

/** Parses the requested scopes. @throws VALIDATION_ERROR for scopes that the app may not request */
export function deviceScopes({ scopes }: Pick<LiveApp, 'scopes'>, sent: string | undefined) {
  const { openid, permissions } = parseScopes(sent);
  if ((permissions ?? []).some((scope) => !scopes?.includes(scope))) {
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'scope', code: 'not_allowed' }],
      fix: 'Request only permissions of the app; an app that is not restricted requests none, only scopes of OpenID Connect.',
    });
  }
  return { openidScopes: openid, scopes: scopes === null ? null : permissions };
}

/** Stores a device's request, and returns its codes. `requested` is absent if the device is the service's own CLI. */
export async function storeDevice(
  { tx, services, call }: Run,
  requested: Pick<
    typeof deviceAuthorizations.$inferInsert,
    'appId' | 'scopes' | 'openidScopes' | 'organization'
  > = {},
) {
  const [deviceCode, userCode] = [newOneTimeToken(), newUserCode()];
  await tx.insert(deviceAuthorizations).values({
    ...requested,
    hash: hashOneTimeToken(deviceCode),
    userCodeHash: hashOneTimeToken(userCode),
    ipAddress: call.address,
    userAgent: call.userAgent,
    intervalSeconds: INTERVAL_SECONDS,
    expiresAt: new Date(services.clock.now().getTime() + DEVICE_SECONDS * 1000),
  });
  return {
    deviceCode,
    userCode: shownCode(userCode),
    verificationUri: devicePage(services.config.appUrl),
    expiresIn: DEVICE_SECONDS,
    interval: INTERVAL_SECONDS,
  };
}

/** Stores the device's request for an app, and returns the codes. */
export async function beginDevice(
  ctx: Run,
  client: Client,
  requested: ReturnType<typeof deviceScopes> & { readonly organization: string | null },
): Promise<z.output<typeof DeviceCodes>> {
  const { app } = client;
  await storeRehash(ctx, client);
  const codes = await storeDevice(ctx, {
    appId: app.id,
    scopes: requested.scopes && [...requested.scopes],
    openidScopes: [...requested.openidScopes],
    organization: requested.organization,
  });
  const metadata = { clientId: app.clientId };
  ctx.record({ node: nodeOfApp(app), target: { type: 'ProjectApp', id: app.id }, metadata });
  return {
    device_code: codes.deviceCode,
    user_code: codes.userCode,
    verification_uri: codes.verificationUri,
    verification_uri_complete: `${codes.verificationUri}?user_code=${codes.userCode}`,
    expires_in: codes.expiresIn,
    interval: codes.interval,
  };
}
