import { createHash, randomBytes } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import type { z } from 'zod';
import { roleIdOf } from '../../../src/schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../../src/kernel/scope.ts';
import type { TestApp } from '../app/app.ts';
import type { JsonOf, Operations, Person } from '../app/client.ts';
import { visitor, type Visitor } from '../app/visitor.ts';

/** A project app with the credentials of its owner. */
export interface AppInProject {
  readonly owner: Person;
  readonly scope: ScopeRef;
  readonly id: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly redirectUri: string;
  readonly issuer: string;
}

type Fields = z.input<z.ZodObject<Operations['createProjectApp']['input']>>;

/** A project of a new person with the resource `board` (actions `read` and `edit`), and an app in it. */
export async function appInProject(
  app: TestApp,
  fields: Partial<Omit<Fields, 'scope'>> = {},
  owner?: Person,
): Promise<AppInProject> {
  const maker = owner ?? (await app.person());
  const as = { token: maker.token };
  const { scope } = await app.must('createProject', { scope: maker.account, name: 'Boards' }, as);
  await app.must(
    'createResource',
    { scope, name: 'Board', slug: 'board', actions: ['read', 'edit', 'share'], createPermissions: true },
    as,
  );
  const redirectUri = fields.redirectUris?.[0] ?? 'https://boards.example/callback';
  const created: JsonOf<z.output<Operations['createProjectApp']['output']>> = await app.must(
    'createProjectApp',
    { scope, name: 'Acme Boards', redirectUris: [redirectUri], ...fields },
    as,
  );
  const [ownerId = '', projectId = ''] = scope.id.split(':');
  return {
    owner: maker,
    scope,
    id: created.id,
    clientId: created.clientId,
    clientSecret: created.clientSecret,
    redirectUri,
    issuer: `http://localhost:4000/acc/${ownerId}/prj/${projectId}`,
  };
}

/** A role of the project with these pairs of `board`; a condition on each is optional. */
export async function roleWith(
  app: TestApp,
  { owner, scope }: Pick<AppInProject, 'owner' | 'scope'>,
  actions: readonly string[],
): Promise<string> {
  const as = { token: owner.token };
  const { items } = await app.must('permissions', { scope, limit: 100 }, as);
  const permissionIds = items
    .filter(({ resource, action }) => resource.slug === 'board' && actions.includes(action))
    .map(({ id }) => id);
  const group = await app.must('createGroup', { scope, name: `G ${actions.join()}`, permissionIds }, as);
  const role = await app.must('createRole', { scope, name: `R ${actions.join()}`, groupIds: [group.id] }, as);
  return role.id;
}

export const projectViewer = roleIdOf('Project Viewer');

/** A browser in the hosted sign-in of an app. */
export interface SignInBrowser extends Visitor {
  readonly verifier: string;
  /** Parameters of a valid request; `state` is new for each browser. */
  readonly request: Readonly<Record<string, string>>;
  /** Requests the authorization endpoint; undefined removes a parameter. */
  authorize(changes?: Readonly<Record<string, string | undefined>>): Promise<LightMyRequestResponse>;
  /** The hidden fields that the current page of this browser would post. */
  formToken(): Promise<string>;
  /** The current page of this browser. */
  page(): Promise<LightMyRequestResponse>;
  /** Requests a mail and returns its token. */
  mail(address: string): Promise<string>;
  /** Opens the link of a mail in this browser. */
  open(token: string): Promise<LightMyRequestResponse>;
  /** From the start to the consent page, by mail, also for a user who has consented before. */
  toConsent(address: string, changes?: Readonly<Record<string, string | undefined>>): Promise<void>;
  /** From the page of providers to the answer for the app, by mail; consents if asked. */
  finish(address: string): Promise<LightMyRequestResponse>;
  /** Answers the consent page; returns the response of the last step. */
  answer(decision: 'approve' | 'deny'): Promise<LightMyRequestResponse>;
}

export const authorizePath = '/api/auth/project/authorize';

export function signInBrowser(
  app: TestApp,
  to: Pick<AppInProject, 'clientId' | 'redirectUri'>,
  /** Absent: a new browser. */
  browser: Visitor = visitor(app.server),
): SignInBrowser {
  const verifier = randomBytes(32).toString('base64url');
  const request = {
    client_id: to.clientId,
    redirect_uri: to.redirectUri,
    response_type: 'code',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: `state of the app ${randomBytes(4).toString('hex')} & more`,
  };
  const self: SignInBrowser = {
    ...browser,
    verifier,
    request,
    authorize: (changes = {}) => {
      const sent = Object.entries({ ...request, ...changes }).filter(([, value]) => value !== undefined);
      return browser.get(`${authorizePath}?${new URLSearchParams(sent).toString()}`);
    },
    async formToken() {
      const page = await self.page();
      const token = /name="(?:form_token|consent_token)" value="([\w-]{43})"/.exec(page.body)?.[1];
      if (!token) throw new Error(`no form: ${page.statusCode} ${page.body}`);
      return token;
    },
    async page() {
      const start = await browser.get('/api/auth/project/sign-in', { accept: 'text/html' });
      return start.statusCode === 303
        ? browser.get(String(start.headers.location), { accept: 'text/html' })
        : start;
    },
    async mail(address) {
      const requested = await browser.post('/api/auth/project/email/request', { email: address });
      if (requested.statusCode !== 303) throw new Error(`no mail: ${requested.statusCode} ${requested.body}`);
      return app.mailedToken(address);
    },
    open: (token) => browser.post('/api/auth/project/email/consume', { token }),
    async toConsent(address, changes) {
      await self.authorize({ prompt: 'login consent', ...changes });
      const next = await self.open(await self.mail(address));
      if (!String(next.headers.location).endsWith('/consent')) throw new Error(`no consent: ${next.body}`);
    },
    async finish(address) {
      const next = await self.open(await self.mail(address));
      return String(next.headers.location).endsWith('/consent') ? self.answer('approve') : next;
    },
    answer: async (decision) =>
      browser.post(`/api/auth/project/consent/${decision}`, { consent_token: await self.formToken() }),
  };
  return self;
}

/** What an app reads from the address to which a browser was led. */
export const redirectParameters = ({ headers }: LightMyRequestResponse): Record<string, string> =>
  Object.fromEntries(new URL(String(headers.location)).searchParams);
