import tseslint from 'typescript-eslint';

/** Type-aware rules everywhere; the architecture's import rules are a test (test/architecture.test.ts). */
export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      'node_modules/',
      'data/',
      '**/migrations/',
      'packages/node/src/client/',
      'packages/cli/src/policy/rules/',
      '**/*.mjs',
      '*.config.js',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    // One program for a whole run: a project service would treat each file as one that an editor opens.
    languageOptions: { parserOptions: { project: 'tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/require-await': 'off',
      'no-console': 'error',
      eqeqeq: ['error', 'always'],
    },
  },
  ...['packages/browser', 'packages/console', 'packages/react'].map((folder) => ({
    files: [`${folder}/src/**`],
    languageOptions: { parserOptions: { project: `${folder}/tsconfig.json` } },
  })),
  {
    files: ['packages/react/test/*.test.ts'],
    languageOptions: { parserOptions: { project: 'packages/react/test/tsconfig.json' } },
  },
  // Each example has its own program.
  { files: ['examples/**'], languageOptions: { parserOptions: { project: false, projectService: true } } },
  { files: ['scripts/**', 'bench/**', 'packages/server/src/main.ts'], rules: { 'no-console': 'off' } },
);
