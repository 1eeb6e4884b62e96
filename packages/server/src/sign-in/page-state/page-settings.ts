import type { Config } from '../../config/config.ts';

/** The folders of what was built; absent: it was not. */
interface Built {
  readonly consoleFolder?: string;
  readonly docsFolder?: string;
}

/** What the pages need to know of the installation. */
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
