import { fail } from '../../errors.ts';
import type { Services } from '../../kernel/context.ts';
import { openidKeys } from '../../domain/federation/providers/providers.ts';
import type { projectApps } from './project-app.ts';

type Ways = Pick<typeof projectApps.$inferSelect, 'enabledProviders' | 'identityProviders'>;

/**
 * An app needs a way to sign in, and a provider must exist, or a typing error would only show as a missing button. One that
 * the app has already may be kept: the operator may have removed it since.
 * @throws VALIDATION_ERROR
 */
export function assertWaysToSignIn({ identityProviders }: Services, ways: Ways, before?: Ways): void {
  if (ways.enabledProviders.length + ways.identityProviders.length === 0) {
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'enabledProviders', code: 'required' }],
      fix: 'Name at least one of enabledProviders or identityProviders: people could not sign in to the app.',
    });
  }
  const allowed = [...openidKeys(identityProviders), ...(before?.identityProviders ?? [])];
  const details = ways.identityProviders.flatMap((key, index) =>
    allowed.includes(key) ? [] : [{ path: `identityProviders.${index}`, code: 'not_allowed' as const }],
  );
  if (details.length > 0) {
    throw fail('VALIDATION_ERROR', {
      details,
      fix: 'Use keys of GET /api/auth/providers; GitHub belongs in enabledProviders.',
    });
  }
}
