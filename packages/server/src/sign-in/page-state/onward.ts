import type { Services } from '../../services.ts';
import { uuid } from '../../kernel/input/values.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { appById } from '../../apps/access/app.ts';
import { pagePath } from '../admission/answer-app.ts';
import { findFlowByCookie } from '../flow/flow.ts';
import { liveAppOf } from './live-app.ts';

/**
 * Where a browser can continue after its step was refused: on the page of the current step or, if the flow is over,
 * elsewhere.
 */
export type Onward =
  | { readonly kind: 'page'; readonly path: string; readonly token: string }
  | { readonly kind: 'app'; readonly address: string }
  | { readonly kind: 'service' }
  | { readonly kind: 'device' };

/** The pages of the flows that ask the user a single question. */
const questions = {
  cli: '/hosted/cli-sign-in',
  connect: '/hosted/connect-provider',
  logout: '/hosted/sign-out',
} as const;

/**
 * Finds out where the browser can continue. `hint` comes from a cookie: it selects a registered app or a page of this
 * service, and is never used as an address.
 */
export async function onwardOf(
  db: Executor,
  services: Services,
  { secret, hint }: { readonly secret: string; readonly hint: string },
): Promise<Onward | null> {
  const flow = await findFlowByCookie(db, services, 'project', secret);
  if (flow && (await liveAppOf(db, flow)))
    return { kind: 'page', path: pagePath(flow.step.name), token: flow.handle };
  for (const kind of ['cli', 'connect', 'logout'] as const) {
    const asked = await findFlowByCookie(db, services, kind, secret);
    if (asked) return { kind: 'page', path: questions[kind], token: asked.handle };
  }
  if (hint === 'service' || hint === 'device') return { kind: hint };
  const app = uuid.safeParse(hint).success ? await appById(db, hint) : undefined;
  // A client that registered itself chose its own addresses, so no page of this service links there.
  if (!app || app.registrationHash !== null) return null;
  const address = app.homepageUrl ?? originOf(app.redirectUris);
  return address === null ? null : { kind: 'app', address };
}

/** The site of the app; null for apps on the user's machine, which have no site. */
function originOf(redirectUris: readonly string[]): string | null {
  const addresses = redirectUris.map((text) => new URL(text));
  return addresses.find(({ protocol }) => protocol === 'https:')?.origin ?? null;
}
