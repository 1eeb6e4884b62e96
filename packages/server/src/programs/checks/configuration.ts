import { ConfigError, loadConfig, unreadVariables, variables, type Config } from '../../config/config.ts';
import { nearest } from '../../kernel/input/nearest.ts';
import { fail, ok, warn, type Check } from './check.ts';

const FIX = 'docs/reference/configuration.md lists every variable';

/** Reads the configuration. Returns it with the checks about it, or null if it is not usable. */
export function checkConfiguration(
  env: Readonly<Record<string, string | undefined>>,
  ownVariables: readonly string[],
): { readonly config: Config | null; readonly checks: readonly Check[] } {
  const unread = [...unreadVariables(env), ...unknownVariables(env, ownVariables)];
  const warnings = unread.map((message) => warn('config', message, FIX));
  try {
    const config = loadConfig(env);
    const doubts = [...warnings, ...developmentValues(config)];
    return { config, checks: doubts.length > 0 ? doubts : [ok('config', `${config.environment}, usable`)] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const faults = error.problems.map((problem) => fail('config', problem, FIX));
    return { config: null, checks: [...faults, ...warnings] };
  }
}

/** Returns messages about unknown variables with a prefix of this service, even if they resemble no known name. */
function unknownVariables(
  env: Readonly<Record<string, string | undefined>>,
  ownVariables: readonly string[],
): string[] {
  const names: string[] = [...variables.map(({ name }) => name), ...ownVariables];
  return Object.keys(env).flatMap((name) => {
    if (!/^(SECURITY|AUTH|DOORWARD)_/.test(name) || names.includes(name)) return [];
    const similar = nearest(name, names);
    // `unreadVariables` reports these already.
    if (similar !== undefined && !name.startsWith('DOORWARD_')) return [];
    return [`${name} is not read${similar === undefined ? '' : `: did you mean ${similar}?`}`];
  });
}

function developmentValues({ production, appUrl, mail, auth }: Config): Check[] {
  if (!production) return [];
  return [
    ...(appUrl.startsWith('http:')
      ? [warn('config', 'APP_URL is http: tokens and passwords travel unencrypted', 'set an https APP_URL')]
      : []),
    ...(mail.provider === 'console'
      ? [
          warn(
            'config',
            'MAIL_PROVIDER=console writes mails with one-time links to the log',
            'set MAIL_PROVIDER=smtp',
          ),
        ]
      : []),
    ...(auth.registrationMode === 'immediate'
      ? [
          warn(
            'config',
            'AUTH_REGISTRATION_MODE=immediate: everybody may register',
            'set verifyFirst or closed, unless that is meant',
          ),
        ]
      : []),
  ];
}
