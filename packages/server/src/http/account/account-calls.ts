import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credentials } from '../../access/credentials/credentials.ts';
import type { Config } from '../../config/config.ts';
import type { Kek } from '../../crypto/keys/kek.ts';
import { isAuthentic, parseRefreshToken } from '../../crypto/tokens/refresh-token.ts';
import { fail } from '../../errors.ts';
import type { Authentication } from '../../kernel/context.ts';
import type { Invoke } from '../../kernel/invoke.ts';
import type { NamedOperation } from '../../kernel/operation.ts';
import { BareReply } from '../../kernel/output/reply.ts';
import type { Clock } from '../../kernel/ports.ts';
import { releaseSlot } from '../admission/request-slot.ts';
import { sessionPrincipal } from '../authenticate.ts';
import { readCookie, writeCookie } from '../cookies/cookies.ts';
import { applyEffects, callOf } from '../server.ts';

interface AccountCallsOptions {
  readonly config: Config;
  readonly operations: readonly NamedOperation[];
  readonly invoke: Invoke;
  readonly services: {
    readonly credentials: Credentials;
    readonly kek: Pick<Kek, 'deriveAll'>;
    readonly clock: Clock;
  };
}

/** The response of an operation that does not return JSON: a file or a redirect. */
export interface Bare {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A signed-in browser on the account pages. */
export interface AccountCaller {
  readonly sessionId: string;
  /** A token that binds forms to the session. */
  readonly formToken: string;
  /** Calls an operation and returns its JSON data, or `Bare`. @throws the error of the operation */
  call(name: string, input: object): Promise<unknown>;
}

export interface AccountCalls {
  /** Returns the caller; null if the browser has no live session of the account pages. */
  open(request: FastifyRequest, reply: FastifyReply): Promise<AccountCaller | null>;
  /** @throws ORIGIN_NOT_ALLOWED for a form of another origin, INVALID_TOKEN for a form of another session */
  assertOwnForm(request: FastifyRequest, caller: AccountCaller, formToken: unknown): void;
  /** Clears the session cookie. */
  forget(reply: FastifyReply): void;
  /** The address at which the browser signs in and then returns to this path. */
  signInAddress(path: string, parameters?: Readonly<Record<string, string>>): string;
  /** The absolute URL of a path. */
  addressOf(path: string): string;
}

const bareOf = ({ headers, body }: BareReply): Bare => ({ headers, body });

const unauthenticated: Authentication = { ok: false, reason: 'invalid' };

/**
 * Calls operations from the account pages, for the user whom their cookie identifies. A call runs exactly as over REST
 * and GraphQL; only the credential differs. The cookie names a session, and its tag proves that this service issued it.
 */
export function createAccountCalls(options: AccountCallsOptions): AccountCalls {
  const { config, invoke, services } = options;
  const { credentials, kek, clock } = services;
  const { https } = config.security;
  const operations = new Map(options.operations.map((op) => [op.name, op]));

  async function authenticationOf(cookie: string): Promise<Authentication> {
    const token = parseRefreshToken(cookie);
    if (!token || !isAuthentic(kek.deriveAll('account-pages'), cookie)) return unauthenticated;
    const state = await credentials.session(token.sessionId);
    if (!state?.alive || state.kind !== 'browser' || state.expiresAt <= clock.now()) return unauthenticated;
    return {
      ok: true,
      principal: sessionPrincipal({ sub: state.userId, jti: token.sessionId }, state),
    };
  }

  const formTokenOf = (sessionId: string): string =>
    createHmac('sha256', kek.deriveAll('account-forms')[0] ?? '')
      .update(sessionId)
      .digest('base64url');

  async function call(
    request: FastifyRequest,
    reply: FastifyReply,
    cookie: string,
    name: string,
    input: object,
  ) {
    const op = operations.get(name);
    if (!op) throw new Error(`no operation ${name}`);
    const authenticate = () => authenticationOf(cookie);
    const callOfPage = {
      ...callOf(request, config, 'rest'),
      authenticate,
      authentication: await authenticate(),
      bearer: null,
      idempotencyKey: null,
      refreshCookie: null,
      accountSessionId: parseRefreshToken(cookie)?.sessionId ?? null,
    };
    try {
      const answer = await invoke(op, input, callOfPage);
      return answer instanceof BareReply ? bareOf(answer) : (JSON.parse(JSON.stringify(answer)) as unknown);
    } finally {
      releaseSlot(callOfPage);
      // Cookies of other sessions stay as they are.
      const { headers, flowCookie } = callOfPage.effects;
      applyEffects({ headers, ...(flowCookie && { flowCookie }) }, reply, https);
    }
  }

  return {
    async open(request, reply) {
      const cookie = readCookie(request, 'account', https);
      const authentication = cookie === null ? unauthenticated : await authenticationOf(cookie);
      if (cookie === null || !authentication.ok) return null;
      const { credentialId } = authentication.principal;
      return {
        sessionId: credentialId,
        formToken: formTokenOf(credentialId),
        call: (name, input) => call(request, reply, cookie, name, input),
      };
    },
    assertOwnForm({ headers }, caller, formToken) {
      const isOwn =
        headers.origin === new URL(config.appUrl).origin || headers['sec-fetch-site'] === 'same-origin';
      if (!isOwn) throw fail('ORIGIN_NOT_ALLOWED');
      const [sent, expected] = [Buffer.from(String(formToken)), Buffer.from(caller.formToken)];
      if (sent.length === expected.length && timingSafeEqual(sent, expected)) return;
      throw fail('INVALID_TOKEN', { fix: 'Open the page again, and send its form from there.' });
    },
    forget: (reply) => writeCookie(reply, 'account', https, 'clear'),
    signInAddress: (path, parameters = {}) => {
      const query = new URLSearchParams({ redirect: config.appUrl + path, ...parameters });
      return `${config.appUrl}/api/auth/sign-in?${query.toString()}`;
    },
    addressOf: (path) => config.appUrl + path,
  };
}
