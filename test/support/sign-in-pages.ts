import fastify, { type FastifyInstance } from 'fastify';
import { errorPage } from '../../src/pages/error.ts';
import { serveColours } from '../../src/pages/colour.ts';
import { serveStylesheet } from '../../src/pages/page.ts';
import type { Standing } from '../../src/pages/project-frame.ts';
import { registerProjectSignInPages, type Link } from '../../src/pages/project-sign-in.ts';
import { toDoorwardError } from '../../src/transport/error-body.ts';
import { sendError } from '../../src/transport/send-error.ts';

/** The pages of a project sign-in alone, in every state that they can be in: which, the test says. */
export interface SignInPages {
  readonly server: FastifyInstance;
  /** What this browser's flow has come to; null: it has none. */
  standing: Standing | null;
  link: Link;
  close(): Promise<void>;
}

export const standing: Standing = {
  app: { name: 'Acme Boards', logoUrl: null, homepageUrl: null, primaryColor: null },
  redirectUri: 'https://boards.example/callback',
  formToken: 'the-form-token',
  step: 'signIn',
  providers: ['email', 'github'],
  notice: null,
  mailedTo: null,
  user: null,
  maker: null,
  scopes: null,
};

/** What the browser must hold for `standing` to be asked. */
export const flowCookie = { name: 'doorward_flow', value: 'this-browser' } as const;

export async function startSignInPages(): Promise<SignInPages> {
  const server = fastify();
  const pages: SignInPages = {
    server,
    standing,
    link: { state: 'invalid' },
    close: () => server.close(),
  };
  server.decorate('errorPage', errorPage);
  server.setErrorHandler((error, request, reply) => sendError(toDoorwardError(error), request, reply));
  serveStylesheet(server);
  serveColours(server);
  registerProjectSignInPages(server, {
    https: false,
    standingOf: async (cookie) => (cookie === flowCookie.value ? pages.standing : null),
    linkOf: async () => pages.link,
  });
  return pages;
}
