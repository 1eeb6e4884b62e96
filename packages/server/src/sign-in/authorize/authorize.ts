import type { Config } from '../../config/config.ts';
import { fail } from '../../errors.ts';
import { languageOfLocales } from '../../kernel/input/ui-locales.ts';
import { Notice, redirect, type BareReply } from '../../kernel/output/reply.ts';
import type { Services, Run } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { AppError } from '../../apps/access/authorization-response.ts';
import {
  appByClientId,
  offeredIdentityProviders,
  offeredProviders,
  type LiveApp,
} from '../../apps/access/app.ts';
import { parseScopes } from '../../apps/access/openid-scopes.ts';
import { mayName, namedResources } from '../../apps/access/resources.ts';
import { matchesRedirect } from '../../schema/apps/redirect-uri.ts';
import { answerApp, pageOf } from '../admission/answer-app.ts';
import type { AppRequest } from '../../apps/access/app-request.ts';
import { storeStep } from '../sso/sign-in-state.ts';
import { newVerifier } from '../../providers/github.ts';
import { readIdTokenHint } from './id-token.ts';
import { asksSecondFactor } from '../steps/missing-factor.ts';
import { continueSession } from './continue-session.ts';
import { parsePrompt, promptValuesOf, promptValues } from '../sso/prompt.ts';

/*
 * The authorization endpoint (RFC 6749 §4.1.1). Until it is known that the redirect URI belongs to the client, errors
 * appear on a page of this service and the browser is not redirected. After that, errors go to the app.
 */

/**
 * The parameters as sent, because errors in them go to the app. An empty parameter counts as missing (RFC 6749 §3.1).
 */
interface AuthorizationParameters {
  readonly client_id: string;
  readonly redirect_uri: string;
  readonly response_type?: string | undefined;
  readonly response_mode?: string | undefined;
  readonly code_challenge?: string | undefined;
  readonly code_challenge_method?: string | undefined;
  readonly state?: string | undefined;
  readonly scope?: string | undefined;
  readonly provider?: string | undefined;
  readonly organization?: string | undefined;
  readonly nonce?: string | undefined;
  readonly prompt?: string | undefined;
  readonly max_age?: string | undefined;
  readonly acr_values?: string | undefined;
  readonly login_hint?: string | undefined;
  readonly ui_locales?: string | undefined;
  readonly id_token_hint?: string | undefined;
  readonly request?: string | undefined;
  readonly request_uri?: string | undefined;
  readonly registration?: string | undefined;
  readonly resource?: string | readonly string[] | undefined;
}

/**
 * The user id in the `id_token_hint`; null without a hint, undefined for a hint that this issuer did not create for the
 * app.
 */
type Hint = string | null | undefined;

/** Reads the hint. Verifies a signature, so call it in `prepare`, outside the transaction. */
export async function prepareHint(
  db: Executor,
  services: Services,
  { client_id, id_token_hint }: AuthorizationParameters,
): Promise<Hint> {
  if (!id_token_hint) return null;
  const app = await appByClientId(db, client_id);
  return app && (await readIdTokenHint(services, app, id_token_hint))?.userId;
}

/** Printable ASCII (RFC 6749 appendix A.5). */
const statePattern = /^[ -~]{1,2048}$/;
const challengePattern = /^[A-Za-z0-9._~-]{43,128}$/;

/** An error in the request, which is sent to the app. */
class RequestError {
  readonly error: AppError;
  /** A fixed English text that names the parameter. */
  readonly description: string;

  constructor(error: AppError, description: string) {
    this.error = error;
    this.description = description;
  }
}

/** Stores the flow, and redirects the browser to its next page. @throws VALIDATION_ERROR, INVALID_REDIRECT_URI */
export async function begin(ctx: Run, request: AuthorizationParameters, hint: Hint): Promise<BareReply> {
  const { config } = ctx.services;
  const app = await requestingApp(ctx.tx, request);
  const offered = [
    ...offeredProviders(config, app),
    ...offeredIdentityProviders(ctx.services, app).map(({ key }) => key),
  ];
  const authorization = repetitionError(ctx.call.repeated) ?? parseParameters(app, request, offered, hint);
  if (authorization instanceof RequestError) {
    ctx.unchanged();
    const address = await answerApp(ctx, app, addresseeOf(app, request), {
      error: authorization.error,
      error_description: authorization.description,
    });
    if (isTrusted(config, request.redirect_uri)) return redirect(address);
    const fix = `${authorization.error}: ${authorization.description}.`;
    return new Notice(address, fail('VALIDATION_ERROR', { fix }));
  }
  const signIn = { asked: authorization, verifier: newVerifier(), handle: null };
  const next = await continueSession(ctx, app, signIn, parsePrompt(request));
  if (typeof next === 'string') return redirect(next);
  ctx.unchanged();
  // A silent sign-in may redirect without a page (RFC 9700 §4.11.2), because with a page it would not be silent.
  if (next !== null) return redirect(await answerApp(ctx, app, authorization, next));
  await storeStep(ctx, signIn, { name: 'signIn' });
  return redirect(pageOfProvider(config, request.provider) ?? pageOf(config, 'signIn'));
}

/** Where a sign-in starts through the provider that the app chose; undefined for a method on our own pages. */
function pageOfProvider({ appUrl }: Config, provider: string | undefined): string | undefined {
  if (!provider || ['email', 'password', 'passkey'].includes(provider)) return undefined;
  return `${appUrl}/api/auth/project/${provider === 'github' ? 'github' : `providers/${provider}`}`;
}

/** Returns where and how to send the app an error about a request that cannot be parsed any further. */
const addresseeOf = (app: LiveApp, request: AuthorizationParameters): AppRequest => ({
  appId: app.id,
  redirectUri: request.redirect_uri,
  challenge: '',
  state: stateOf(request) ?? null,
  scopes: [],
  ...(request.response_mode === 'form_post' && { responseMode: 'form_post' }),
});

/**
 * Whether an error may redirect the browser without asking the user, who has not signed in yet. With an invalid
 * request, the owner of an app could use this service as an open redirector (RFC 9700 §4.11.2). So a page asks the user
 * first, unless the address belongs to the operator or to an app on the user's machine.
 */
function isTrusted({ security }: Config, redirectUri: string): boolean {
  const { protocol, hostname, origin } = new URL(redirectUri);
  if (!/^https?:$/.test(protocol)) return true;
  return ['127.0.0.1', '[::1]', 'localhost'].includes(hostname) || security.origins.includes(origin);
}

async function requestingApp(
  db: Executor,
  { client_id, redirect_uri }: AuthorizationParameters,
): Promise<LiveApp> {
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

/** The error for a redirect URI that the app hasn't registered. */
export const unknownRedirect = (
  path = 'redirect_uri',
  fix = 'Send one of the redirectUris of the app, character by character; only the port of a loopback IP may differ.',
) => fail('INVALID_REDIRECT_URI', { details: [{ path, code: 'not_allowed' }], fix });

/**
 * An error names a parameter only if its name matches this pattern. Any other name may be arbitrary text from the
 * caller, which no response repeats.
 */
const parameterPattern = /^[a-z_]{1,32}$/;

function repetitionError([repeated]: readonly string[]): RequestError | undefined {
  if (repeated === undefined) return undefined;
  const name = parameterPattern.test(repeated) ? repeated : 'a parameter';
  return new RequestError('invalid_request', `${name} was sent more than once`);
}

/**
 * The app's state. Null if the app sent none, which is fine because PKCE is required. Undefined if it is malformed and
 * so cannot be sent back.
 */
function stateOf({ state }: AuthorizationParameters): string | null | undefined {
  if (!state) return null;
  return statePattern.test(state) ? state : undefined;
}

function parseParameters(
  app: LiveApp,
  request: AuthorizationParameters,
  providers: readonly string[],
  hint: Hint,
): AppRequest | RequestError {
  const { response_type: type, code_challenge: challenge } = request;
  const state = stateOf(request);
  if (state === undefined) {
    return new RequestError('invalid_request', 'state must be 1 to 2,048 printable ASCII characters');
  }
  if (!type) return new RequestError('invalid_request', 'response_type is missing');
  if (type !== 'code') return new RequestError('unsupported_response_type', 'response_type must be code');
  if (request.response_mode && !['query', 'form_post'].includes(request.response_mode)) {
    return new RequestError('invalid_request', 'response_mode must be query or form_post');
  }
  if (!challenge || !challengePattern.test(challenge)) {
    return new RequestError('invalid_request', 'code_challenge must be 43 to 128 unreserved characters');
  }
  // A missing method means `plain` (RFC 7636 §4.3): the challenge itself would be the secret.
  if (request.code_challenge_method !== 'S256') {
    return new RequestError('invalid_request', 'code_challenge_method must be S256');
  }
  const { openid, permissions } = parseScopes(request.scope);
  if (unknownScopes(app, permissions).length > 0)
    return new RequestError('invalid_scope', 'the app has not named this scope');
  if (providers.length === 0)
    return new RequestError('temporarily_unavailable', 'no sign-in provider is set up');
  if (request.provider && !providers.includes(request.provider)) {
    return new RequestError('invalid_request', 'the app does not offer this provider');
  }
  const resources = namedResources(request.resource);
  if (!mayName(app, resources))
    return new RequestError('invalid_target', 'resource must be at most five of the resources of the app');
  const fault = openidFault(request, hint);
  if (fault) return fault;
  const language = languageOfLocales(request.ui_locales);
  const loginHint = loginHintOf(request.login_hint);
  return {
    appId: app.id,
    redirectUri: request.redirect_uri,
    challenge,
    state,
    scopes: permissionsOf(app, permissions),
    ...(openid.length > 0 && { openid: { scopes: openid, nonce: request.nonce || null } }),
    ...(resources.length > 0 && { resources }),
    ...(request.response_mode === 'form_post' && { responseMode: 'form_post' }),
    ...(hint && { expectedUserId: hint }),
    ...(promptValuesOf(request.prompt).includes('consent') && { asksConsent: true }),
    ...(asksSecondFactor(request.acr_values) && { asksFactor: true }),
    ...(loginHint !== undefined && { loginHint }),
    ...(request.organization && { organization: request.organization.toLowerCase() }),
    ...(language !== undefined && { language }),
  };
}

/** Returns the hint if it looks like an address, and undefined otherwise. */
export const loginHintOf = (sent: string | undefined): string | undefined =>
  /^[^\s@]{1,64}@[^\s@]{1,189}$/.exec(sent ?? '')?.[0];

/** Finds an error in the parameters of OpenID Connect. */
function openidFault(request: AuthorizationParameters, hint: Hint): RequestError | undefined {
  for (const name of ['request', 'request_uri', 'registration'] as const) {
    if (request[name]) return new RequestError(`${name}_not_supported`, `${name} is not supported`);
  }
  if (request.nonce && !statePattern.test(request.nonce)) {
    return new RequestError('invalid_request', 'nonce must be 1 to 2,048 printable ASCII characters');
  }
  if (request.max_age && !/^\d{1,10}$/.test(request.max_age)) {
    return new RequestError('invalid_request', 'max_age must be a whole number of seconds');
  }
  const prompt = promptValuesOf(request.prompt);
  if (!prompt.every((value) => promptValues.includes(value))) {
    return new RequestError('invalid_request', `prompt must be of ${promptValues.join(', ')}`);
  }
  if (prompt.includes('none') && prompt.length > 1) {
    return new RequestError('invalid_request', 'prompt must be none alone, or have other values');
  }
  if (hint === undefined) {
    return new RequestError(
      'invalid_request',
      'id_token_hint must be an id_token of this issuer for the app',
    );
  }
  return undefined;
}

/** The requested permissions. An unrestricted app cannot name any, so it requests all. */
export const permissionsOf = (
  app: Pick<LiveApp, 'scopes'>,
  named: readonly string[] | null,
): readonly string[] | null => (app.scopes === null ? null : named);

/** The requested scopes that the app may not request. An unrestricted app may not request any. */
export const unknownScopes = (app: Pick<LiveApp, 'scopes'>, requested: readonly string[] | null): string[] =>
  (requested ?? []).filter((scope) => !app.scopes?.includes(scope));
