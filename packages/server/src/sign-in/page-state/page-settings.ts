import type { Config } from '../../config/config.ts';

/** The folders of the built console and docs; absent if they were not built. */
interface Built {
  readonly consoleFolder?: string;
  readonly docsFolder?: string;
}

/** The settings of the installation that the pages need. */
export function pageSettings(config: Config, { consoleFolder, docsFolder }: Built) {
  const { security, graphql, docs, auth } = config;
  const servesConsole = config.console.enabled && consoleFolder !== undefined;
  return {
    https: security.https,
    serves: {
      explorer: graphql.explorer,
      apiDocs: docs.enabled,
      docs: docs.enabled && docsFolder !== undefined,
      console: servesConsole,
    },
    home: security.frontendUrl ?? (servesConsole ? '/console' : '/account'),
    passwordMinLength: auth.passwordMinLength,
  };
}
