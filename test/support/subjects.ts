/**
 * The folders of subjects, each with its operations and what belongs to them. A subject imports those before it, never one
 * behind it: what two of them need moves to an earlier one.
 */
export const subjects: readonly string[] = [
  'outgoing',
  'providers',
  'people',
  'sessions',
  'members',
  'webhooks',
  'apps',
  'sign-in',
  'oauth',
  'machines',
  'tenants',
  'rights',
  'operators',
  'account',
];
