import fastify, { type FastifyInstance } from 'fastify';
import { registerDevicePage } from '../../../src/pages/device/device-page.ts';
import { html } from '../../../src/html/html.ts';
import { errorPage } from '../../../src/pages/error.ts';
import { serveColours } from '../../../src/pages/colour.ts';
import { serveStylesheet } from '../../../src/pages/page.ts';
import { registerProjectSignInPages } from '../../../src/pages/sign-in/project-sign-in.ts';
import { registerSignOutPages } from '../../../src/pages/sign-in/sign-out.ts';
import { toDoorwardError } from '../../../src/http/error-body.ts';
import { sendError } from '../../../src/http/send-error.ts';
import type { LinkState, PageState } from '../../../src/sign-in/page-state/page-state.ts';

/** The pages of a project sign-in without the rest of the service; the test sets the state that they show. */
export interface SignInPages {
  readonly server: FastifyInstance;
  /** The state of the flow of this browser; null: it has none. */
  state: PageState | null;
  link: LinkState;
  close(): Promise<void>;
}

/** The state of a sign-in that has just started. */
export const initialState: PageState = {
  app: {
    name: 'Acme Boards',
    logoUrl: null,
    homepageUrl: null,
    primaryColor: null,
    logoPath: null,
    intro: {},
  },
  redirectUri: 'https://boards.example/callback',
  formToken: 'the-form-token',
  step: 'signIn',
  providers: ['email', 'github'],
  identityProviders: [{ key: 'github', name: 'GitHub', logoUrl: null }],
  provider: null,
  notice: null,
  hasPasskey: false,
  hasAuthenticator: true,
  signIn: {
    form: null,
    address: null,
    entered: {},
    mailedTo: null,
    connects: false,
    connection: null,
    hasConnections: false,
    problems: [],
    allowsSignUp: false,
    passwordMinLength: 12,
  },
  user: null,
  maker: null,
  enrolment: null,
  choices: null,
  organization: null,
  openid: [],
  loginHint: null,
  language: null,
  device: null,
  fields: {},
  scopes: null,
  later: [],
};

/** The cookie with which a browser has the flow of `SignInPages.state`. */
export const flowCookie = { name: 'doorward_flow', value: 'this-browser' } as const;

const picture = Buffer.from('R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs=', 'base64');

export async function startSignInPages(): Promise<SignInPages> {
  const server = fastify();
  const pages: SignInPages = {
    server,
    state: initialState,
    link: { state: 'invalid' },
    close: () => server.close(),
  };
  server.decorate('errorPage', errorPage);
  server.setErrorHandler((error, request, reply) => sendError(toDoorwardError(error), request, reply));
  serveStylesheet(server);
  serveColours(server);
  server.get('/api/pictures/acme.gif', (_, reply) => reply.type('image/gif').send(picture));
  const onwardLink = async () =>
    html`<a class="button plain" href="https://boards.example/">Back to boards.example</a>`;
  registerDevicePage(server, { https: false });
  registerProjectSignInPages(server, {
    https: false,
    pageStateOf: async (cookie) => (cookie === flowCookie.value ? pages.state : null),
    linkOf: async () => pages.link,
    onwardLink,
  });
  registerSignOutPages(server, {
    https: false,
    logoutQuestionFor: async (cookie) =>
      cookie === flowCookie.value
        ? { app: pages.state?.app.name ?? '', formToken: 'x'.repeat(43), redirect: 'https://boards.example/' }
        : null,
    wayBackFor: async (cookie) => {
      const { name, homepageUrl } = pages.state?.app ?? initialState.app;
      return cookie === flowCookie.value && homepageUrl !== null ? { app: name, homepageUrl } : null;
    },
    home: '/account',
    onwardLink,
  });
  return pages;
}
