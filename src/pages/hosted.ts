import type { FastifyInstance } from 'fastify';
import { registerCliSignInPage } from './cli-sign-in.ts';
import { serveColours } from './colour.ts';
import { errorPage } from './error.ts';
import { registerInvitationPage } from './invitation.ts';
import { serveStylesheet } from './page.ts';
import { registerProjectSignInPages } from './project-sign-in.ts';
import { registerResetPasswordPage } from './reset-password.ts';
import { registerSignedInPage } from './signed-in.ts';
import { registerVerifyEmailPage } from './verify-email.ts';

/**
 * Every page: those below `/hosted`, and those of a sign-in to an app, with the style sheet that they share and those
 * of colours.
 */
export function registerHostedPages(
  app: FastifyInstance,
  options: Parameters<typeof registerCliSignInPage>[1] & Parameters<typeof registerProjectSignInPages>[1],
): void {
  app.decorate('errorPage', errorPage);
  serveStylesheet(app);
  serveColours(app);
  registerVerifyEmailPage(app);
  registerInvitationPage(app);
  registerResetPasswordPage(app);
  registerSignedInPage(app);
  registerCliSignInPage(app, options);
  registerProjectSignInPages(app, options);
}
