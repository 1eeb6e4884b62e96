import { useRead } from '../../../api/use-api.ts';
import { useTexts } from '../../../i18n/language.ts';
import { secondFactorTexts } from './second-factor-texts.ts';

/** The authenticator apps of the user, and the number of their recovery codes. */
export const useOwnApps = () => useRead(['MfaFactor', 'mine'], (api, signal) => api.myMfa({}, { signal }));

/** The passkeys of the user: at most ten. */
export const useOwnPasskeys = () =>
  useRead(['Passkey', 'mine'], (api, signal) =>
    api.myPasskeys({ limit: 100 }, { signal }).then(({ items }) => items),
  );

/**
 * Completes the consequence of removing an app or a passkey with what happens to the recovery codes: they end with the
 * last app or passkey.
 */
export function useCodesNote(): (consequence: string) => string {
  const t = useTexts(secondFactorTexts);
  const { data: apps } = useOwnApps();
  const { data: passkeys } = useOwnPasskeys();
  return (consequence) => {
    if (apps?.recoveryCodesLeft === 0) return consequence;
    if (!apps || !passkeys) return `${consequence} ${t.codesMayEnd}`;
    const factors = apps.factors.filter(({ isEnabled }) => isEnabled).length + passkeys.length;
    return factors === 1 ? `${consequence} ${t.codesEnd}` : consequence;
  };
}
