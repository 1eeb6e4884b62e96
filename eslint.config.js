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
      '**/*.mjs',
      '*.config.js',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
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
  { files: ['scripts/**', 'bench/**', 'packages/server/src/main.ts'], rules: { 'no-console': 'off' } },
);
