import type { FastifyInstance } from 'fastify';
import { registerAccountPages } from './account/account-pages.ts';
import { serveColours } from './colour.ts';
import { registerDevicePage } from './device/device-page.ts';
import { errorPage, notFoundPage } from './error.ts';
import { registerInvitationPage } from './mailed-links/invitation.ts';
import { registerInvitationAcceptance } from './mailed-links/invitation-acceptance.ts';
import { serveStylesheet } from './page.ts';
import { serveLogos } from './logos.ts';
import { registerProjectGrantPage } from './mailed-links/project-grant.ts';
import { registerResetPasswordPage } from './mailed-links/reset-password.ts';
import { registerOnward } from './onward.ts';
import { registerCliSignInPage } from './sign-in/cli-sign-in.ts';
import { registerConnectProviderPage } from './sign-in/connect-provider.ts';
import { registerProjectSignInPages } from './sign-in/project-sign-in.ts';
import { registerSignOutPages } from './sign-in/sign-out.ts';
import { registerSignedInPage } from './sign-in/signed-in.ts';
import type { PageSettings } from './page-settings.ts';
import { registerStartPage } from './start.ts';
import { registerVerifyEmailPage } from './mailed-links/verify-email.ts';

/**
 * Registers all pages: the start page, the pages below `/hosted`, and the pages for accounts, devices, project sign-ins
 * and errors.
 */
export function registerHostedPages(
  app: FastifyInstance,
  options: Omit<
    Parameters<typeof registerCliSignInPage>[1] &
      Parameters<typeof registerConnectProviderPage>[1] &
      Parameters<typeof registerProjectSignInPages>[1] &
      Parameters<typeof registerSignOutPages>[1],
    'onwardLink'
  > &
    Parameters<typeof registerOnward>[1] &
    Parameters<typeof registerAccountPages>[1] &
    Parameters<typeof serveLogos>[1] &
    PageSettings,
): void {
  app.decorate('errorPage', errorPage);
  app.decorate('notFoundPage', notFoundPage);
  const onwardLink = registerOnward(app, options);
  const questions = { ...options, onwardLink };
  serveStylesheet(app);
  serveColours(app);
  serveLogos(app, options);
  registerStartPage(app, options);
  registerVerifyEmailPage(app, options);
  registerInvitationPage(app, options);
  registerInvitationAcceptance(app, options);
  registerProjectGrantPage(app);
  registerResetPasswordPage(app, options);
  registerSignedInPage(app, options);
  registerCliSignInPage(app, questions);
  registerConnectProviderPage(app, questions);
  registerProjectSignInPages(app, questions);
  registerSignOutPages(app, questions);
  registerDevicePage(app, options);
  registerAccountPages(app, options);
}
