import type { Call, Principal } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import { principalOfKey } from '../../access/credentials/credentials.ts';
import type { Refusal } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { appByClientId } from '../../apps/access/app.ts';
import {
  authenticateApp,
  invalidClient,
  refuseClient,
  storeRehash,
  type Client,
  type ClientCredentials,
  type RejectedClient,
} from '../tokens/client.ts';
import { keyCredentials } from './client-credentials.ts';
import { checkCredentials, type CredentialCheck, type SentCredentials } from './credential-check.ts';
import { refuseKey, renewHash } from './exchange.ts';

type IntrospectingClient =
  | Client
  | RejectedClient
  | { readonly principal: Principal; readonly check: CredentialCheck | null }
  | { readonly refused: CredentialCheck; readonly sent: SentCredentials };

interface Asker {
  readonly tx: Executor;
  readonly services: Services;
  readonly call: Call;
  /** The caller identified by the token in `Authorization`, if any. */
  readonly principal: Principal | null;
}

/**
 * Authenticates a client that asks about tokens (RFC 7662 §2.1): a confidential app or an API key by its client
 * credentials, or an API key by its token.
 *
 * @throws UNAUTHENTICATED, RATE_LIMITED
 */
export async function authenticateIntrospection(
  { tx, services, call, principal }: Asker,
  {
    client_id,
    client_secret,
  }: Pick<ClientCredentials, 'client_secret'> & {
    readonly client_id?: string | undefined;
  },
): Promise<IntrospectingClient> {
  if (client_id === undefined) {
    if (principal?.type !== 'ApiKey') throw invalidClient();
    return { principal, check: null };
  }
  const app = await appByClientId(tx, client_id);
  if (app) {
    // A public app proves nothing about itself, so anyone could ask in its place.
    if (!app.confidential) throw invalidClient();
    return authenticateApp(services, call.network, app, client_secret);
  }
  const sent = keyCredentials({ client_id, client_secret });
  const check = await checkCredentials(services, call, sent);
  if (check.fault !== null) return { refused: check, sent };
  const state = await services.credentials.key(check.key.id);
  if (!state?.alive) return { refused: { ...check, fault: 'inactive' }, sent };
  return { principal: principalOfKey(check.key.id, state), check };
}

/**
 * In the transaction: refuses a client that failed to authenticate, and records it. Returns undefined for any other
 * client.
 */
export async function concludeIntrospection(
  ctx: Run,
  client: IntrospectingClient,
): Promise<Refusal | undefined> {
  if ('claimedApp' in client) return refuseClient(ctx, client);
  if ('refused' in client) return refuseKey({ record: ctx.record, input: client.sent }, client.refused);
  if ('app' in client) await storeRehash(ctx, client);
  else if (client.check) await renewHash(ctx, client.check);
  return undefined;
}
