import { testsInOrder } from './config.ts';

export default testsInOrder([
  'packages/server/src/kernel/scope.test.ts',
  'packages/server/src/access/condition.test.ts',
  'packages/server/src/access/caller-watch.test.ts',
  'packages/server/src/access/credentials/credentials.test.ts',
  'packages/server/src/access/dry-run/impact.test.ts',
  'packages/server/src/access/credentials/cidrs.test.ts',
  'packages/server/src/access/built-in.test.ts',
  'packages/server/src/access/guard.test.ts',
  'packages/server/src/http/connections/network.test.ts',
  'packages/server/src/access/grants/effective.test.ts',
  'packages/server/src/access/delegation/escalation.test.ts',
]);
