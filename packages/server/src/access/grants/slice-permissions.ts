import type { GrantFeature, ScopeGrant } from '../../kernel/scope.ts';

/**
 * The management-plane permissions that have effect in a granted scope (decision 0044). The project's owner defines
 * roles, apps and everything else; the customer assigns roles to its people and machines, and sees their activity.
 */
const actionsInSlice: Readonly<Record<string, readonly string[]>> = {
  User: ['Query', 'Create', 'Update', 'Delete'],
  Role: ['Query'],
  Group: ['Query'],
  Permission: ['Query'],
  Resource: ['Query'],
  ApiKey: ['Query', 'Create', 'Revoke', 'Delete', 'Rotate'],
  WebhookSubscription: ['Query', 'Create', 'Update', 'Delete', 'RotateSecret', 'Test'],
  WebhookDelivery: ['Query', 'Replay'],
  AuditLog: ['Query'],
  Event: ['Query'],
  Authorization: ['Check', 'Explain'],
};

/** Nouns that a slice includes only if its grant has the feature. */
const featureOf: Readonly<Record<string, GrantFeature>> = {
  ApiKey: 'apiKeys',
  WebhookSubscription: 'webhooks',
  WebhookDelivery: 'webhooks',
  AuditLog: 'audit',
  Event: 'audit',
};

const pairs: ReadonlySet<string> = new Set(
  Object.entries(actionsInSlice).flatMap(([noun, actions]) =>
    actions.map((action) => `${noun}:${action.toLowerCase()}`),
  ),
);

/** Whether a permission on a built-in resource has effect in the slice of this grant. */
export function isInSlice(
  { resource, action }: { readonly resource: string; readonly action: string },
  { features }: Pick<ScopeGrant, 'features'>,
): boolean {
  const feature = featureOf[resource];
  return (
    pairs.has(`${resource}:${action.toLowerCase()}`) && (feature === undefined || features.includes(feature))
  );
}
