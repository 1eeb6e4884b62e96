import { and, eq, getTableColumns, isNotNull, isNull } from 'drizzle-orm';
import type { z } from 'zod';
import type { Config } from '../../config/config.ts';
import { equalHashes } from '../../crypto/tokens/secrets.ts';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { projectApps } from '../../schema/apps/project-app.ts';
import type { Context } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { appByClientId, appsTopic, nodeOfApp, type LiveApp } from '../../apps/access/app.ts';
import { openidScopes } from '../../schema/apps/openid-scope.ts';
import { endSessionsOfApps } from '../../members/app-sessions.ts';
import type { ClientRegistration } from './client-metadata.ts';
import { invalidRegistrationToken } from './errors.ts';

/* Clients that registered themselves, and the management of their registration (RFC 7592). */

type Row = typeof projectApps.$inferSelect;

/** Event data of the app: its row, and the members without a column. The recorder drops members that aren't public. */
export const appData = (app: Row) => ({
  ...app,
  projectId: app.tenantId,
  registered: app.registrationHash !== null,
});

/** The registration of the client, as RFC 7591 §3.2.1 returns it. */
export const describeClient = (
  { appUrl }: Pick<Config, 'appUrl'>,
  app: Row,
): z.output<typeof ClientRegistration> => ({
  client_id: app.clientId,
  client_id_issued_at: Math.floor(app.createdAt.getTime() / 1000),
  registration_client_uri: `${appUrl}/api/auth/project/register/${app.clientId}`,
  client_name: app.name,
  ...(app.homepageUrl === null ? {} : { client_uri: app.homepageUrl }),
  redirect_uris: app.redirectUris,
  post_logout_redirect_uris: app.postLogoutRedirectUris,
  scope: [...openidScopes, ...(app.scopes ?? [])].join(' '),
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
});

/**
 * Returns the client that the registration access token belongs to.
 *
 * @throws UNAUTHENTICATED, also for a client that does not exist (RFC 7592 §2.1)
 */
export async function registeredClient(
  db: Executor,
  clientId: string,
  token: string | null,
): Promise<LiveApp> {
  const app = await appByClientId(db, clientId);
  const hash = hashOneTimeToken(token ?? '');
  if (!app?.registrationHash || !equalHashes(Buffer.from(app.registrationHash), Buffer.from(hash))) {
    throw invalidRegistrationToken();
  }
  return app;
}

type Act = Pick<Context, 'tx' | 'services' | 'record' | 'invalidate'>;

/** Deletes the app and ends its sessions. Returns false if it has already been deleted. */
export async function deleteRegisteredApp(act: Act, app: LiveApp): Promise<boolean> {
  const [deleted] = await act.tx
    .update(projectApps)
    .set({ deletedAt: act.services.clock.now() })
    .where(
      and(eq(projectApps.id, app.id), isNull(projectApps.deletedAt), isNotNull(projectApps.registrationHash)),
    )
    .returning(getTableColumns(projectApps));
  if (!deleted) return false;
  act.record({
    node: nodeOfApp(app),
    event: 'project_app.deleted',
    data: appData(deleted),
    target: { type: 'ProjectApp', id: app.id },
  });
  await endSessionsOfApps(act, [app.id]);
  act.invalidate(`credential:${app.id}`, appsTopic(app.tenantId));
  return true;
}
