import { options } from './stryker.mjs';

/** What needs no database. */
const names = [
  'built-in',
  'caller-watch',
  'condition',
  'credentials/cidrs',
  'delegation/escalation',
  'dry-run/impact',
  'grants/effective',
  'guard',
];

export default options('access', [
  'packages/server/src/kernel/scope.ts',
  ...names.map((name) => `packages/server/src/access/${name}.ts`),
]);
