import type { Config } from '../../config/config.ts';
import { flowIdOf } from '../../crypto/tokens/flow-secret.ts';
import {
  responseParameters,
  responseRedirect,
  type AuthorizationResult,
} from '../../apps/access/authorization-response.ts';
import type { LiveApp } from '../../apps/access/app.ts';
import { denyDevice } from '../devices/decide-device.ts';
import type { AppRequest } from '../../apps/access/app-request.ts';
import { beginFlow } from '../flow/flow.ts';
import type { ProjectSignIn } from '../flow/flow-data.ts';
import { failurePage } from '../federation/destination.ts';
import { newVerifier } from '../../providers/github.ts';
import type { Run } from '../../services.ts';

/** The steps of a sign-in to an app, each with its page. */
export type StepName = ProjectSignIn['step']['name'];

const pages: Record<StepName, string> = {
  signIn: '/api/auth/project/sign-in',
  secondFactor: '/api/auth/project/second-factor',
  enrolment: '/api/auth/project/enrolment',
  organization: '/api/auth/project/organization',
  consent: '/api/auth/project/consent',
  respond: '/api/auth/project/respond',
};

export const pagePath = (step: StepName): string => pages[step];
/** The address of one of the first page's other forms. */
export const formPath = (form: 'signUp' | 'reset'): string =>
  `${pages.signIn}?form=${form === 'signUp' ? 'sign-up' : 'reset'}`;
export const pageOf = ({ appUrl }: Config, step: StepName): string => appUrl + pages[step];

/**
 * Returns the address through which the browser takes the authorization response to the app. If the sign-in is for a
 * device or for this service itself, the result can only be an error: the device is denied, or the browser goes to the
 * failure page. With the response mode `form_post` it is a page of this service whose form posts the response, so that
 * no URL contains it (OAuth 2.0 Form Post Response Mode).
 */
export async function answerApp(
  ctx: Run,
  app: LiveApp,
  asked: AppRequest,
  result: AuthorizationResult,
): Promise<string> {
  const { config } = ctx.services;
  if (asked.device) return denyDevice(ctx, asked.device.hash);
  if (asked.toService) return failurePage(config, asked, 'accessDenied');
  const fields = responseParameters(config, app, asked, result);
  if (asked.responseMode !== 'form_post') return responseRedirect(asked.redirectUri, fields);
  const step = { name: 'respond', fields } as const;
  const state = await beginFlow(ctx, 'project', { asked, verifier: newVerifier(), step });
  return `${pageOf(config, 'respond')}?flow=${flowIdOf(state)}`;
}
