import type { Config } from '../../../config/config.ts';

/** What the pages need to know of the installation. `consoleFolder`: the files of the console; undefined: they were not built. */
export function pageSettings(config: Config, consoleFolder: string | undefined) {
  const { security, graphql, docs, auth } = config;
  const servesConsole = config.console.enabled && consoleFolder !== undefined;
  return {
    https: security.https,
    serves: { explorer: graphql.explorer, documentation: docs.enabled, console: servesConsole },
    home: security.frontendUrl ?? (servesConsole ? '/console' : '/account'),
    passwordMinLength: auth.passwordMinLength,
  };
}
