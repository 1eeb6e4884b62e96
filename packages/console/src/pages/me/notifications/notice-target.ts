import type { components } from '@doorward/node/client';
import { scopeOf, type Scope } from '../../../scopes/scope.ts';

type Notice = components['schemas']['Notification'];

/** The page that a notification links to. */
export type NoticeTarget =
  /** One of the user's own pages. */
  | { readonly kind: 'own'; readonly page: string }
  | { readonly kind: 'scope'; readonly scope: Scope; readonly page: string; readonly row: string | null };

/**
 * The page that each type of notification links to. null means that there is no link: an invitation, for example, can
 * only be opened from its mail.
 */
const places: Readonly<
  Record<Notice['type'], { readonly own: string } | { readonly page: string; readonly hasRow?: true } | null>
> = {
  invitation_received: null,
  removed_from_organization: null,
  project_grant_changed: null,
  member_joined: { page: 'members' },
  role_changed: { page: 'overview' },
  api_key_expiring: { page: 'api-keys', hasRow: true },
  api_key_created: { page: 'api-keys', hasRow: true },
  connection_bypassed: { page: 'members' },
  domain_lapsed: { page: 'domains', hasRow: true },
  webhook_failing: { page: 'webhooks', hasRow: true },
  webhook_disabled: { page: 'webhooks', hasRow: true },
  new_sign_in: { own: 'sessions' },
  session_reuse: { own: 'sessions' },
  password_changed: { own: 'security' },
  mfa_changed: { own: 'security' },
  sign_in_methods_changed: { own: 'security' },
  operator_action: null,
  impersonated: { own: 'sessions' },
};

export function targetOf({ type, scope, target }: Notice): NoticeTarget | null {
  // A newer version of the service may send types that this console doesn't know.
  const place = Object.hasOwn(places, type) ? places[type] : null;
  if (!place) return null;
  if ('own' in place) return { kind: 'own', page: place.own };
  const valid = scope && scopeOf(scope.tenant, scope.id);
  if (!valid) return null;
  return { kind: 'scope', scope: valid, page: place.page, row: (place.hasRow && target?.id) || null };
}
