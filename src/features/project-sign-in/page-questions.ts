import { eq } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import type { Call, Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { appByClientId, appById, offeredProviders, type LiveApp } from '../app-access/app.ts';
import { matchesRedirect } from '../app-access/redirect-uri.ts';
import { namedScopes, type NamedScope } from '../app-access/scopes.ts';
import { questionFor, type Question } from '../federation/cli.ts';
import { connectQuestionFor, type ConnectQuestion } from '../federation/connecting.ts';
import { flowUnder, seeFlow, startAgain, type Notice, type SignedInToApp } from '../federation/flow.ts';
import { localPart } from '../federation/matching.ts';
import { organizations } from '../organizations/organization.ts';
import { projects } from '../projects/project.ts';
import { users } from '../users/user.ts';
import { scopesIn, unknownRedirect, unknownScopes } from './authorize.ts';
import { appOf, linkUnder, type ProjectFlow, type StepName } from './steps.ts';

/** What pages ask before they are shown, and what an app or a page of a customer's own is told. Nothing is changed. */

/** How the app presents itself. */
interface Face {
  readonly name: string;
  readonly logoUrl: string | null;
  readonly homepageUrl: string | null;
  readonly primaryColor: string | null;
}

interface Person {
  readonly displayName: string;
  readonly email: string | null;
  readonly pictureUrl: string | null;
}

/** The project and owner of the app, because its name is free text and can imitate any other. */
interface Maker {
  readonly project: string;
  readonly organization: string | null;
}

/** Where the sign-in of a browser stands. */
export interface Standing {
  readonly app: Face;
  readonly redirectUri: string;
  readonly formToken: string;
  readonly step: StepName;
  readonly providers: LiveApp['enabledProviders'];
  readonly notice: Notice | null;
  readonly mailedTo: string | null;
  /** At the question for consent only. */
  readonly user: Person | null;
  /** The owner of the app; only on the page that asks for consent. */
  readonly maker: Maker | null;
  /** Null: the app is not restricted, so it may do what the user may in its project. */
  readonly scopes: readonly NamedScope[] | null;
}

/** What a mailed link is good for in the browser in which it was opened. */
export type Link =
  | { readonly state: 'ready'; readonly app: Face; readonly redirectUri: string; readonly token: string }
  | { readonly state: 'otherBrowser' }
  | { readonly state: 'invalid' };

export interface PageQuestions {
  questionFor(flowCookie: string): Promise<Question | null>;
  connectQuestionFor(flowCookie: string): Promise<ConnectQuestion | null>;
  /** Null when this browser has no sign-in to an app, or none any more. */
  standingOf(flowCookie: string): Promise<Standing | null>;
  linkOf(flowCookie: string | null, token: string): Promise<Link>;
}

const face = ({ name, logoUrl, homepageUrl, primaryColor }: LiveApp): Face => ({
  name,
  logoUrl,
  homepageUrl,
  primaryColor,
});

export const pageQuestions = (db: Executor, services: Services): PageQuestions => ({
  questionFor: (cookie) => questionFor(db, services, cookie),
  connectQuestionFor: (cookie) => connectQuestionFor(db, services, cookie),
  standingOf: async (cookie) => {
    const flow = await seeFlow(db, services, 'project', cookie);
    const app = flow && (await liveAppOf(db, flow));
    return flow && app ? standing(db, services, flow, app) : null;
  },
  linkOf: async (cookie, token) => {
    const found = await linkUnder(db, services, { token, cookie });
    const app = found && (await liveAppOf(db, found.flow));
    if (!found || !app) return { state: 'invalid' };
    if (!found.isHere) return { state: 'otherBrowser' };
    return { state: 'ready', app: face(app), redirectUri: found.flow.asked.redirectUri, token };
  },
});

/** Undefined when the app is gone, or no longer wants to be led back there. */
async function liveAppOf(db: Executor, { asked }: ProjectFlow): Promise<LiveApp | undefined> {
  const app = await appById(db, asked.appId);
  return app && matchesRedirect(app, asked.redirectUri) ? app : undefined;
}

async function standing(
  db: Executor,
  { config }: Services,
  { asked, handle, step }: ProjectFlow,
  app: LiveApp,
): Promise<Standing> {
  const isConsent = step.name === 'consent';
  return {
    app: face(app),
    redirectUri: asked.redirectUri,
    formToken: handle,
    step: step.name,
    providers: offeredProviders(config, app),
    notice: (!isConsent && step.notice) || null,
    mailedTo: (step.name === 'signIn' && step.mailedTo) || null,
    user: isConsent ? await personOf(db, step.user) : null,
    maker: isConsent ? await makerOf(db, app) : null,
    scopes: isConsent ? step.shown && (await namedScopes(db, app, step.shown)) : [],
  };
}

async function makerOf(db: Executor, { tenantId }: LiveApp): Promise<Maker | null> {
  const [maker] = await db
    .select({ project: projects.name, organization: organizations.name })
    .from(projects)
    .leftJoin(organizations, eq(organizations.id, projects.ownerId))
    .where(eq(projects.id, tenantId));
  return maker ?? null;
}

async function personOf(db: Executor, { userId, proof }: SignedInToApp): Promise<Person> {
  const [user] = userId === null ? [] : await db.select().from(users).where(eq(users.id, userId));
  if (user) return { displayName: user.name, email: user.email, pictureUrl: user.pictureUrl };
  const address = proof.provider === 'email' ? proof.address : proof.identity.address;
  const name = proof.provider === 'github' ? proof.identity.name : null;
  return { displayName: name ?? localPart(address ?? ''), email: address, pictureUrl: null };
}

interface AskedForInfo {
  readonly client_id: string;
  readonly redirect_uri?: string | undefined;
  readonly scope?: string | undefined;
}

/** @throws NOT_FOUND, INVALID_REDIRECT_URI, VALIDATION_ERROR */
export async function appInfo(db: Executor, { config }: Services, asked: AskedForInfo) {
  const app = await appByClientId(db, asked.client_id);
  if (!app) throw fail('NOT_FOUND');
  if (asked.redirect_uri !== undefined && !matchesRedirect(app, asked.redirect_uri)) throw unknownRedirect();
  const requested = scopesIn(asked.scope);
  if (unknownScopes(app, requested).length > 0) {
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'scope', code: 'not_allowed' }],
      fix: 'Ask for scopes of the app only; an app that is not restricted is asked without scope.',
    });
  }
  const scopes = requested ?? app.scopes;
  return {
    ...face(app),
    enabledProviders: [...offeredProviders(config, app)],
    scopes: scopes && (await namedScopes(db, app, scopes)),
  };
}

/** Who it is, only the browser is told that has shown it. @throws INVALID_TOKEN */
export async function consentInfo(db: Executor, services: Services, call: Call, consentToken: string) {
  const flow = await flowUnder(db, services, 'project', consentToken);
  if (flow?.step.name !== 'consent') throw startAgain();
  const { user, shown } = flow.step;
  const app = await appOf(db, flow.asked);
  const here = call.flowCookie === null ? undefined : await seeFlow(db, services, 'project', call.flowCookie);
  return {
    ...face(app),
    scopes: shown && (await namedScopes(db, app, shown)),
    user: here?.handle === flow.handle ? await personOf(db, user) : null,
  };
}
