import { useRead } from '../../../api/use-api.ts';
import { useTexts } from '../../../i18n/language.ts';
import { secondFactorTexts } from './second-factor-texts.ts';

/** Reads the authenticator apps of the user, and how many recovery codes are left. */
export const useOwnApps = () => useRead(['MfaFactor', 'mine'], (api, signal) => api.myMfa({}, { signal }));

/** Reads the passkeys of the user. A user has at most ten, so one page contains them all. */
export const useOwnPasskeys = () =>
  useRead(['Passkey', 'mine'], (api, signal) =>
    api.myPasskeys({ limit: 100 }, { signal }).then(({ items }) => items),
  );

/**
 * Returns a function that adds a note to the consequences of removing an app or passkey: removing the last one makes
 * the recovery codes invalid.
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
