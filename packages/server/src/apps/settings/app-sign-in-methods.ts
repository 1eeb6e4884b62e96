import { fail, type Detail } from '../../errors.ts';
import type { Services } from '../../services.ts';
import { openidKeys } from '../../providers/providers.ts';

interface Ways {
  readonly enabledProviders: readonly string[];
  readonly identityProviders: readonly string[];
}

/**
 * Returns the faults in the sign-in methods of an app; null if there are none. An app needs at least one method, and
 * each provider must exist: otherwise a typing error would only show as a missing button. A provider that the app
 * already has may stay, even if the operator has removed it.
 */
export function signInMethodFaults(
  { identityProviders }: Pick<Services, 'identityProviders'>,
  ways: Ways,
  before?: Ways,
): { readonly details: readonly Detail[]; readonly fix: string } | null {
  if (ways.enabledProviders.length + ways.identityProviders.length === 0) {
    return {
      details: [{ path: 'enabledProviders', code: 'required' }],
      fix: 'Name at least one of enabledProviders or identityProviders: people could not sign in to the app.',
    };
  }
  const allowed = [...openidKeys(identityProviders), ...(before?.identityProviders ?? [])];
  const details = ways.identityProviders.flatMap((key, index): Detail[] =>
    allowed.includes(key) ? [] : [{ path: `identityProviders.${index}`, code: 'not_allowed' }],
  );
  if (details.length === 0) return null;
  return { details, fix: 'Use keys of GET /api/auth/providers; GitHub belongs in enabledProviders.' };
}

/** Asserts that `signInMethodFaults` finds none. @throws VALIDATION_ERROR */
export function assertSignInMethods(
  services: Pick<Services, 'identityProviders'>,
  ways: Ways,
  before?: Ways,
): void {
  const faults = signInMethodFaults(services, ways, before);
  if (faults) throw fail('VALIDATION_ERROR', faults);
}
