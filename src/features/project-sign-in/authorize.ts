import type { Config } from '../../config.ts';
import { fail } from '../../errors.ts';
import { Notice, redirect, type BareReply } from '../../kernel/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { errorAddress, type AppError } from '../app-access/answer.ts';
import { appByClientId, offeredProviders, type LiveApp } from '../app-access/app.ts';
import { matchesRedirect } from '../app-access/redirect-uri.ts';
import { beginFlow, type AskedByApp } from '../federation/flow.ts';
import { newVerifier } from '../federation/github.ts';
import type { Run } from '../identity/sign-in.ts';
import { pageOf } from './steps.ts';

/**
 * The beginning (RFC 6749 §4.1.1). Until client and redirect URI are known to belong together nobody is led anywhere:
 * what is wrong is told on a page of ours. From then on the app is told.
 */

/** As it came: what is missing or wrong is told where the app can read it. An empty parameter is none (RFC 6749 §3.1). */
export interface Request {
  readonly client_id: string;
  readonly redirect_uri: string;
  readonly response_type?: string | undefined;
  readonly response_mode?: string | undefined;
  readonly code_challenge?: string | undefined;
  readonly code_challenge_method?: string | undefined;
  readonly state?: string | undefined;
  readonly scope?: string | undefined;
  readonly provider?: string | undefined;
}

/** Printable ASCII (RFC 6749 appendix A.5). */
const stateForm = /^[ -~]{1,512}$/;
const challengeForm = /^[A-Za-z0-9._~-]{43,128}$/;

/** What keeps the request from being one, for the app. */
class Fault {
  readonly error: AppError;
  /** Fixed English words, which name the parameter. */
  readonly description: string;

  constructor(error: AppError, description: string) {
    this.error = error;
    this.description = description;
  }
}

/** Stores the flow, and answers where the browser goes. @throws VALIDATION_ERROR, INVALID_REDIRECT_URI */
export async function begin(ctx: Run, request: Request): Promise<BareReply> {
  const { config } = ctx.services;
  ctx.unchanged();
  const app = await askingApp(ctx.tx, request);
  const asked = faultOf(ctx.call.repeated) ?? read(app, request, offeredProviders(config, app));
  if (asked instanceof Fault) {
    const { redirect_uri: redirectUri } = request;
    const state = stateOf(request) ?? null;
    const address = errorAddress(config, app, { redirectUri, state }, asked.error, asked.description);
    if (isTrusted(config, redirectUri)) return redirect(address);
    return new Notice(address, fail('VALIDATION_ERROR', { fix: `${asked.error}: ${asked.description}.` }));
  }
  await beginFlow(ctx, 'project', { asked, verifier: newVerifier(), step: { name: 'signIn' } });
  const isGithub = request.provider === 'github';
  return redirect(isGithub ? `${config.appUrl}/api/auth/project/github` : pageOf(config, 'signIn'));
}

/**
 * Whether a browser may be led there although nobody has signed in or agreed to anything. The maker of an app could use
 * our address as a disguise for their own page, with a request that is wrong on purpose (RFC 9700 §4.11.2). So the user
 * is asked first, unless the address belongs to the operator or is on the machine of the user.
 */
function isTrusted({ security }: Config, redirectUri: string): boolean {
  const { protocol, hostname, origin } = new URL(redirectUri);
  if (!/^https?:$/.test(protocol)) return true;
  return ['127.0.0.1', '[::1]', 'localhost'].includes(hostname) || security.origins.includes(origin);
}

async function askingApp(db: Executor, { client_id, redirect_uri }: Request): Promise<LiveApp> {
  const app = await appByClientId(db, client_id);
  if (!app) {
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'client_id', code: 'not_allowed' }],
      fix: 'Send the clientId of a project app that has not been deleted.',
    });
  }
  if (!matchesRedirect(app, redirect_uri)) throw unknownRedirect();
  return app;
}

export const unknownRedirect = () =>
  fail('INVALID_REDIRECT_URI', {
    details: [{ path: 'redirect_uri', code: 'not_allowed' }],
    fix: 'Send one of the redirectUris of the app, character by character; only the port of a loopback IP may differ.',
  });

/**
 * The fault names a parameter only if its name has this form. Any other name may be arbitrary text of the caller, which
 * is never repeated.
 */
const parameterForm = /^[a-z_]{1,32}$/;

function faultOf([repeated]: readonly string[]): Fault | undefined {
  if (repeated === undefined) return undefined;
  const name = parameterForm.test(repeated) ? repeated : 'a parameter';
  return new Fault('invalid_request', `${name} was sent more than once`);
}

/**
 * Null: no state was sent, and none is needed, since every request has a challenge. Undefined: the state that was sent
 * cannot be sent back.
 */
function stateOf({ state }: Request): string | null | undefined {
  if (!state) return null;
  return stateForm.test(state) ? state : undefined;
}

function read(app: LiveApp, request: Request, providers: readonly string[]): AskedByApp | Fault {
  const { response_type: type, code_challenge: challenge } = request;
  const state = stateOf(request);
  if (state === undefined) {
    return new Fault('invalid_request', 'state must be 1 to 512 printable ASCII characters');
  }
  if (!type) return new Fault('invalid_request', 'response_type is missing');
  if (type !== 'code') return new Fault('unsupported_response_type', 'response_type must be code');
  if (request.response_mode && request.response_mode !== 'query') {
    return new Fault('invalid_request', 'response_mode must be query');
  }
  if (!challenge || !challengeForm.test(challenge)) {
    return new Fault('invalid_request', 'code_challenge must be 43 to 128 unreserved characters');
  }
  // Absent it would mean `plain` (RFC 7636 §4.3), with which the challenge is the secret.
  if (request.code_challenge_method !== 'S256') {
    return new Fault('invalid_request', 'code_challenge_method must be S256');
  }
  const scopes = scopesIn(request.scope);
  if (unknownScopes(app, scopes).length > 0)
    return new Fault('invalid_scope', 'the app has not named this scope');
  if (providers.length === 0) return new Fault('temporarily_unavailable', 'no sign-in provider is set up');
  if (request.provider && !providers.includes(request.provider)) {
    return new Fault('invalid_request', 'the app does not offer this provider');
  }
  return { appId: app.id, redirectUri: request.redirect_uri, challenge, state, scopes };
}

/** Each once; null where none is named, and so all are meant. */
export function scopesIn(sent: string | undefined): string[] | null {
  const names = (sent ?? '').split(' ').filter(Boolean);
  return names.length === 0 ? null : [...new Set(names)];
}

/** An app that is not restricted has no scopes that could be asked for. */
export const unknownScopes = (app: Pick<LiveApp, 'scopes'>, asked: readonly string[] | null): string[] =>
  (asked ?? []).filter((scope) => !app.scopes?.includes(scope));
