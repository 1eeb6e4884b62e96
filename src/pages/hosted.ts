import type { FastifyInstance } from 'fastify';
import { registerCliSignInPage } from './cli-sign-in.ts';
import { serveColours } from './colour.ts';
import { errorPage } from './error.ts';
import { registerInvitationPage } from './invitation.ts';
import { serveStylesheet } from './page.ts';
import { registerResetPasswordPage } from './reset-password.ts';
import { registerSignedInPage } from './signed-in.ts';
import { registerVerifyEmailPage } from './verify-email.ts';

/** Every page below `/hosted`, with the style sheet that they share and those of colours. */
export function registerHostedPages(
  app: FastifyInstance,
  options: Parameters<typeof registerCliSignInPage>[1],
): void {
  app.decorate('errorPage', errorPage);
  serveStylesheet(app);
  serveColours(app);
  registerVerifyEmailPage(app);
  registerInvitationPage(app);
  registerResetPasswordPage(app);
  registerSignedInPage(app);
  registerCliSignInPage(app, options);
}
