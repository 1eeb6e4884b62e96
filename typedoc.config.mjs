import { OptionDefaults } from 'typedoc';

/** The pages of the packages: npm run docs:api. */
export default {
  name: 'Doorward',
  entryPoints: [
    ...['node', 'audit', 'client', 'express', 'fastify', 'hono', 'nest', 'next', 'otel'].map(
      (name) => `packages/node/src/${name}.ts`,
    ),
    ...['decision', 'document'].map((name) => `packages/decision/src/${name}.ts`),
    'packages/browser/src/browser.ts',
    'packages/react/src/react.tsx',
  ],
  tsconfig: 'packages/tsconfig.api.json',
  plugin: ['typedoc-plugin-markdown'],
  out: 'dist/api',
  readme: 'none',
  excludeInternal: true,
  excludeExternals: true,
  disableSources: true,
  // The types that are generated from the OpenAPI document have this tag.
  blockTags: [...OptionDefaults.blockTags, '@description', '@constant'],
  treatWarningsAsErrors: true,
};
