import { eq } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import {
  appByClientId,
  offeredIdentityProviders,
  offeredProviders,
  type LiveApp,
} from '../../apps/access/app.ts';
import { parseScopes } from '../../apps/access/openid-scopes.ts';
import { matchesRedirect } from '../../schema/apps/redirect-uri.ts';
import { namedScopes } from '../../apps/access/scopes.ts';
import { hasConnections } from '../connections/live-connection.ts';
import { addressOf, statedName } from '../admission/app-sign-in.ts';
import { loadCliQuestion, type CliQuestion } from '../federation/cli.ts';
import { loadConnectQuestion, type ConnectQuestion } from '../federation/link-account.ts';
import { findFlowByState, findFlowByCookie, startAgainError } from '../flow/flow.ts';
import type { IdentifiedPerson } from '../flow/flow-data.ts';
import type { IdentityProviders } from '../../providers/providers.ts';
import { keyOfFlow } from '../../providers/provider.ts';
import { localPart } from '../federation/match-identity.ts';
import { organizations } from '../../schema/tenants/organization.ts';
import { isEnrolled } from '../../people/enrolment.ts';
import { hasPasskey } from '../webauthn/has-passkey.ts';
import { projects } from '../../schema/tenants/project.ts';
import { users } from '../../schema/people/user.ts';
import { permissionsOf, unknownRedirect, unknownScopes } from '../authorize/authorize.ts';
import { chosenName, shownChoices } from '../organization-choice/shown-choices.ts';
import { shownEnrolment } from '../enrolment/shown-enrolment.ts';
import { loadLogoutQuestion, loadWayBack } from '../end-session/end-session.ts';
import { mailOfToken } from '../mailed-codes/mailed-code.ts';
import { firstPageOf } from './first-page.ts';
import { pageProfileOf, profileOf } from '../steps/page-profile.ts';
import { liveAppOf } from './live-app.ts';
import { onwardOf, type Onward } from './onward.ts';
import { appOf, type ProjectFlow } from '../steps/steps.ts';
import type { AppOwner, LinkState, PageState, PersonProfile } from './page-state.ts';

/* Read-only data for the sign-in pages, for apps, and for pages that customers build themselves. */

interface PageQuestions {
  questionFor(flowCookie: string): Promise<CliQuestion | null>;
  connectQuestionFor(flowCookie: string): Promise<ConnectQuestion | null>;
  logoutQuestionFor(flowCookie: string): ReturnType<typeof loadLogoutQuestion>;
  wayBackFor(flowCookie: string): ReturnType<typeof loadWayBack>;
  /** Null if this browser has no current sign-in to an app. */
  pageStateOf(flowCookie: string): Promise<PageState | null>;
  linkOf(flowCookie: string | null, token: string): Promise<LinkState>;
  onwardOf(flow: Parameters<typeof onwardOf>[2]): Promise<Onward | null>;
  readLogo: IdentityProviders['logos']['read'];
}

/** Reads the data that the pages need. */
export const pageQuestions = (db: Executor, services: Services): PageQuestions => ({
  readLogo: services.identityProviders.logos.read,
  onwardOf: (flow) => onwardOf(db, services, flow),
  questionFor: (cookie) => loadCliQuestion(db, services, cookie),
  connectQuestionFor: (cookie) => loadConnectQuestion(db, services, cookie),
  logoutQuestionFor: (cookie) => loadLogoutQuestion(db, services, cookie),
  wayBackFor: (cookie) => loadWayBack(db, services, cookie),
  pageStateOf: async (cookie) => {
    const flow = await findFlowByCookie(db, services, 'project', cookie);
    const app = flow && (await liveAppOf(db, flow));
    return flow && app ? pageStateAt(db, services, flow, app) : null;
  },
  linkOf: async (cookie, token) => {
    const opened = await mailOfToken(db, services, { token, cookie });
    const app = opened && (await liveAppOf(db, opened.flow));
    const code = opened?.mail.code ?? null;
    if (!opened || !app || code === null) return { state: 'invalid' };
    const { flow, mail } = opened;
    if (!opened.isSameBrowser) return { state: 'otherBrowser', code };
    const minLength = services.config.auth.passwordMinLength;
    const isReset = mail.purpose.name === 'reset';
    const reset = isReset ? { code, formToken: flow.handle, minLength } : null;
    const { redirectUri, language = null } = flow.asked;
    return { state: 'ready', app: pageProfileOf(services.config, app), redirectUri, token, language, reset };
  },
});

async function pageStateAt(
  db: Executor,
  services: Services,
  { asked: request, handle, step }: ProjectFlow,
  app: LiveApp,
): Promise<PageState> {
  const isConsent = step.name === 'consent';
  const { config } = services;
  const factorOf = step.name === 'secondFactor' ? step.user.userId : null;
  const identityProviders = offeredIdentityProviders(services, app);
  const providerKey = step.name === 'signIn' ? keyOfFlow(step) : undefined;
  return {
    app: pageProfileOf(config, app),
    redirectUri: request.redirectUri,
    formToken: handle,
    step: step.name,
    providers: offeredProviders(config, app),
    identityProviders,
    provider: identityProviders.find(({ key }) => key === providerKey)?.name ?? companyOf(step),
    notice: ('notice' in step && step.notice) || null,
    hasPasskey: factorOf !== null && (await hasPasskey(db, factorOf)),
    hasAuthenticator: factorOf !== null && (await isEnrolled(db, factorOf)),
    signIn: firstPageOf(
      config,
      app,
      step.name === 'signIn' ? step : undefined,
      step.name === 'signIn' && (await hasConnections(db, app)),
    ),
    user: isConsent ? await personOf(db, step.user) : null,
    maker: isConsent ? await ownerOfApp(db, app) : null,
    ...(isConsent ? await questionOf(db, app, step) : { scopes: [], later: [] }),
    enrolment: step.name === 'enrolment' ? await shownEnrolment(db, config, step) : null,
    choices: step.name === 'organization' ? await shownChoices(db, app, step.user) : null,
    organization: isConsent ? await chosenName(db, request.organization) : null,
    openid: request.openid?.scopes ?? [],
    loginHint: request.loginHint ?? null,
    language: request.language ?? null,
    device: request.device ?? null,
    fields: step.name === 'respond' ? step.fields : {},
  };
}

/** The name of the connection that the person went to. */
const companyOf = (step: ProjectFlow['step']): string | null =>
  (step.name === 'signIn' && step.connection?.id === step.providerKey && step.connection?.name) || null;

/** The permissions on the consent page: those that the user holds now, and those that they do not hold yet. */
async function questionOf(
  db: Executor,
  app: LiveApp,
  { shown, later = [] }: { readonly shown: readonly string[] | null; readonly later?: readonly string[] },
) {
  const now = shown?.filter((scope) => !later.includes(scope)) ?? null;
  return {
    scopes: now && (await namedScopes(db, app, now)),
    later: await namedScopes(db, app, later),
  };
}

async function ownerOfApp(db: Executor, { tenantId }: LiveApp): Promise<AppOwner | null> {
  const [owner] = await db
    .select({ project: projects.name, organization: organizations.name })
    .from(projects)
    .leftJoin(organizations, eq(organizations.id, projects.ownerId))
    .where(eq(projects.id, tenantId));
  return owner ?? null;
}

async function personOf(db: Executor, { userId, proof }: IdentifiedPerson): Promise<PersonProfile> {
  const [user] = userId === null ? [] : await db.select().from(users).where(eq(users.id, userId));
  if (user) return { displayName: user.name, email: user.email, pictureUrl: user.pictureUrl };
  const address = addressOf(proof);
  return { displayName: statedName(proof) ?? localPart(address ?? ''), email: address, pictureUrl: null };
}

interface AppInfoInput {
  readonly client_id: string;
  readonly redirect_uri?: string | undefined;
  readonly scope?: string | undefined;
}

/** The public data of an app. @throws NOT_FOUND, INVALID_REDIRECT_URI, VALIDATION_ERROR */
export async function appInfo(db: Executor, services: Services, input: AppInfoInput) {
  const app = await appByClientId(db, input.client_id);
  if (!app) throw fail('NOT_FOUND');
  if (input.redirect_uri !== undefined && !matchesRedirect(app, input.redirect_uri)) throw unknownRedirect();
  const { permissions } = parseScopes(input.scope);
  if (unknownScopes(app, permissions).length > 0) {
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'scope', code: 'not_allowed' }],
      fix: 'Name only scopes of the app; for an app that is not restricted, leave scope out.',
    });
  }
  const scopes = permissionsOf(app, permissions) ?? app.scopes;
  return {
    ...profileOf(app),
    enabledProviders: [...offeredProviders(services.config, app)],
    identityProviders: offeredIdentityProviders(services, app)
      .filter(({ issuer }) => issuer !== null)
      .map(({ key, name, logoUrl }) => ({ key, name, logoUrl })),
    scopes: scopes && (await namedScopes(db, app, scopes)),
  };
}

/**
 * The data of the consent page. Only the browser in which the user signs in learns who the user is. @throws
 * INVALID_TOKEN
 */
export async function consentInfo(db: Executor, services: Services, call: Call, consentToken: string) {
  const flow = await findFlowByState(db, services, 'project', consentToken);
  if (flow?.step.name !== 'consent') throw startAgainError();
  const { user } = flow.step;
  const app = await appOf(db, flow.asked);
  const here =
    call.flowCookie === null ? undefined : await findFlowByCookie(db, services, 'project', call.flowCookie);
  const { scopes, later: laterScopes } = await questionOf(db, app, flow.step);
  return {
    ...profileOf(app),
    scopes,
    laterScopes,
    user: here?.handle === flow.handle ? await personOf(db, user) : null,
  };
}
