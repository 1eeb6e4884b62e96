import type { z } from 'zod';
import type { Call } from '../../kernel/context.ts';
import type { Services } from '../../services.ts';
import { uuid } from '../../kernel/input/values.ts';
import { Refusal } from '../../kernel/output/reply.ts';
import type { ClientCredentials } from '../tokens/client.ts';
import type { AppTokens } from '../tokens/issue.ts';
import { unauthenticated, type SentCredentials } from './credential-check.ts';
import { exchange, prepareExchange, type ExchangeRun, type PreparedExchange } from './exchange.ts';

/*
 * The grant `client_credentials` (RFC 6749 §4.4, openid §4): the exchange of an API key, as OAuth clients request it.
 * They can't name a scope, so the key's own scope applies.
 */

interface PreparedKeyGrant {
  readonly sent: SentCredentials;
  readonly exchange: PreparedExchange;
}

/** Reads OAuth client credentials as those of an API key. @throws UNAUTHENTICATED if no key can have them */
export function keyCredentials({ client_id, client_secret = '' }: ClientCredentials): SentCredentials {
  const clientId = uuid.safeParse(client_id);
  const sent = { clientId: clientId.data ?? '', clientSecret: client_secret, scope: null };
  if (!clientId.success || client_secret === '') throw unauthenticated(sent);
  return sent;
}

/** Before the transaction: checks the credentials and signs the token. @throws UNAUTHENTICATED, RATE_LIMITED */
export async function prepareKeyGrant(
  ctx: { readonly services: Services; readonly call: Call },
  credentials: ClientCredentials,
): Promise<PreparedKeyGrant> {
  const sent = keyCredentials(credentials);
  return { sent, exchange: await prepareExchange({ ...ctx, input: sent }) };
}

/** Exchanges the key in the transaction. Returns the tokens, or a refusal that is recorded. */
export async function exchangeKeyGrant(
  { tx, services, call, record, invalidate, afterCommit }: Omit<ExchangeRun, 'input'>,
  { sent, exchange: prepared }: PreparedKeyGrant,
): Promise<z.output<typeof AppTokens> | Refusal> {
  const token = await exchange({
    tx,
    services,
    call,
    record,
    invalidate,
    afterCommit,
    input: sent,
    prepared,
  });
  if (token instanceof Refusal) return token;
  return { ...token, tokenType: 'Bearer', refreshToken: null, idToken: null, scope: null };
}
