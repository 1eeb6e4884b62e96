import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { fail, type DoorwardError } from '../../errors.ts';
import type { Services, Run } from '../../services.ts';
import { refuse, type Refusal } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { appByClientId, nodeOfApp, type LiveApp } from '../../apps/access/app.ts';
import { verifyAppSecret } from '../../apps/access/app-secret.ts';
import { projectApps } from '../../schema/apps/project-app.ts';

/**
 * Credentials of a client at the token endpoint (RFC 6749 §2.3). A confidential app authenticates with its secret, for
 * every grant. A public app has no secret, so any secret that it sends is wrong.
 */
export interface ClientCredentials {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
}

export interface Client {
  readonly app: LiveApp;
  /** The hash of the secret with the current encryption key, if the stored hash uses a former key. */
  readonly rehash: Buffer | null;
}

/** A confidential app with a missing or wrong secret. The call is refused, and the refusal is recorded. */
export interface RejectedClient {
  readonly claimedApp: LiveApp;
}

export const clientInput = {
  client_id: z
    .string()
    .min(1)
    .max(256)
    .meta({
      description: 'The `clientId` of the app or API key, here or with HTTP Basic.',
      examples: ['8d8ac610-566d-4ef0-9c22-186b2a5ed793'],
    }),
  client_secret: z.string().min(1).max(256).optional().meta({
    description: 'The secret of a confidential app or an API key, here or with HTTP Basic.',
  }),
};

export const invalidClient = (): DoorwardError =>
  fail('UNAUTHENTICATED', {
    fix: 'Check client_id and client_secret: a confidential app sends its secret, a public app none.',
  });

/**
 * Authenticates the app with this client id.
 *
 * @throws UNAUTHENTICATED for an unknown client id, and like `authenticateApp`
 */
export async function authenticateClient(
  db: Executor,
  services: Services,
  network: string,
  credentials: ClientCredentials,
): Promise<Client | RejectedClient> {
  const app = await appByClientId(db, credentials.client_id);
  if (!app) throw invalidClient();
  return authenticateApp(services, network, app, credentials.client_secret);
}

/**
 * Authenticates the app by its secret. As with API keys, only failures count towards the rate limit, which is per app
 * and network, and a network over its limit is refused before any comparison.
 *
 * @throws UNAUTHENTICATED for a public app that sends a secret; RATE_LIMITED
 */
export async function authenticateApp(
  services: Services,
  network: string,
  app: LiveApp,
  client_secret: string | undefined,
): Promise<Client | RejectedClient> {
  if (!app.confidential) {
    if (client_secret !== undefined) throw invalidClient();
    return { app, rehash: null };
  }
  const limitKey = `project app ${app.clientId} ${network}`;
  await services.limiter.consume('auth', limitKey, 0);
  const { isMatch, rehash } =
    app.secretHash && client_secret !== undefined
      ? verifyAppSecret(services, app.secretHash, client_secret)
      : { isMatch: false, rehash: null };
  if (isMatch) return { app, rehash };
  await services.limiter.consume('auth', limitKey);
  return { claimedApp: app };
}

/** Refuses the call, and records the attempt in the project of the app that the caller claims to be. */
export function refuseClient(ctx: Run, { claimedApp: app }: RejectedClient): Refusal {
  ctx.record({
    outcome: 'failed',
    code: 'UNAUTHENTICATED',
    node: nodeOfApp(app),
    target: { type: 'ProjectApp', id: app.id },
    metadata: { clientId: app.clientId, fault: 'secret' },
  });
  return refuse(invalidClient());
}

/**
 * Stores the hash with the current encryption key. The secret is available only when a client sends it, so this is how
 * hashes move away from a former key.
 */
export async function storeRehash({ tx }: Run, { app, rehash }: Client): Promise<void> {
  if (!rehash || !app.secretHash) return;
  await tx
    .update(projectApps)
    .set({ secretHash: rehash })
    .where(and(eq(projectApps.id, app.id), eq(projectApps.secretHash, app.secretHash)));
}
