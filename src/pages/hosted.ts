import type { FastifyInstance } from 'fastify';
import { registerCliSignInPage } from './cli-sign-in.ts';
import { serveColours } from './colour.ts';
import { registerConnectGithubPage } from './connect-github.ts';
import { errorPage, notFoundPage } from './error.ts';
import { registerInvitationPage } from './invitation.ts';
import { serveStylesheet } from './page.ts';
import { registerProjectSignInPages } from './project-sign-in.ts';
import { registerResetPasswordPage } from './reset-password.ts';
import { registerSignedInPage } from './signed-in.ts';
import { registerStartPage, type StartPageOptions } from './start.ts';
import { registerVerifyEmailPage } from './verify-email.ts';

/**
 * Every page: the start, those below `/hosted`, and those of a sign-in to an app, with the style sheet that they share and those
 * of colours.
 */
export function registerHostedPages(
  app: FastifyInstance,
  options: Parameters<typeof registerCliSignInPage>[1] &
    Parameters<typeof registerConnectGithubPage>[1] &
    Parameters<typeof registerProjectSignInPages>[1] &
    StartPageOptions,
): void {
  app.decorate('errorPage', errorPage);
  app.decorate('notFoundPage', notFoundPage);
  serveStylesheet(app);
  serveColours(app);
  registerStartPage(app, options);
  registerVerifyEmailPage(app);
  registerInvitationPage(app);
  registerResetPasswordPage(app);
  registerSignedInPage(app);
  registerCliSignInPage(app, options);
  registerConnectGithubPage(app, options);
  registerProjectSignInPages(app, options);
}
