import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { fail, type DoorwardError } from '../../errors.ts';
import type { Services } from '../../kernel/context.ts';
import { refuse, type Refusal } from '../../kernel/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { appByClientId, nodeOfApp, type LiveApp } from '../app-access/app.ts';
import { judgeAppSecret } from '../app-access/app-secret.ts';
import type { Run } from '../identity/sign-in.ts';
import { projectApps } from '../project-apps/project-app.ts';

/**
 * Which app asks at the token endpoint (RFC 6749 §2.3). A confidential one proves it by its secret, for every grant; a
 * public one has none, so whatever it sends as a secret is wrong.
 */
export interface SentByClient {
  readonly client_id: string;
  readonly client_secret?: string | undefined;
}

export interface Client {
  readonly app: LiveApp;
  /** The hash of its secret under the current key, if it is kept under a former one. */
  readonly rehash: Buffer | null;
}

/** A confidential app whose secret was not sent, or another: it is refused, and that is recorded. */
export interface Impostor {
  readonly impersonated: LiveApp;
}

export const clientInput = {
  client_id: z
    .string()
    .min(1)
    .max(256)
    .meta({
      description: 'The `clientId` of the app, here or with HTTP Basic.',
      examples: ['8d8ac610-566d-4ef0-9c22-186b2a5ed793'],
    }),
  client_secret: z.string().min(1).max(256).optional().meta({
    description: 'The secret of a confidential app, here or with HTTP Basic.',
  }),
};

export const invalidClient = (): DoorwardError =>
  fail('UNAUTHENTICATED', {
    fix: 'Check client_id and client_secret: a confidential app sends its secret, a public app none.',
  });

/**
 * Only what fails counts against a network, as with API keys; an exhausted one is refused before anything is compared.
 * @throws UNAUTHENTICATED for a client id that is none, and for a public app with a secret; RATE_LIMITED
 */
export async function clientOf(
  db: Executor,
  services: Services,
  network: string,
  { client_id, client_secret }: SentByClient,
): Promise<Client | Impostor> {
  const app = await appByClientId(db, client_id);
  if (!app) throw invalidClient();
  if (!app.confidential) {
    if (client_secret !== undefined) throw invalidClient();
    return { app, rehash: null };
  }
  const guesses = `project app ${app.clientId} ${network}`;
  await services.limiter.consume('auth', guesses, 0);
  const { isItsSecret, rehash } =
    app.secretHash && client_secret !== undefined
      ? judgeAppSecret(services, app.secretHash, client_secret)
      : { isItsSecret: false, rehash: null };
  if (isItsSecret) return { app, rehash };
  await services.limiter.consume('auth', guesses);
  return { impersonated: app };
}

/** Recorded for the project, whose app somebody pretends to be. */
export function refuseImpostor(ctx: Run, { impersonated: app }: Impostor): Refusal {
  ctx.record({
    outcome: 'failed',
    code: 'UNAUTHENTICATED',
    node: nodeOfApp(app),
    target: { type: 'ProjectApp', id: app.id },
    metadata: { clientId: app.clientId, fault: 'secret' },
  });
  return refuse(invalidClient());
}

/** The one moment at which the secret is known, so that a former encryption key can go. */
export async function keepRehash({ tx }: Run, { app, rehash }: Client): Promise<void> {
  if (!rehash || !app.secretHash) return;
  await tx
    .update(projectApps)
    .set({ secretHash: rehash })
    .where(and(eq(projectApps.id, app.id), eq(projectApps.secretHash, app.secretHash)));
}
