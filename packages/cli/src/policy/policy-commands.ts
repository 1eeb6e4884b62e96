import type { Command } from '../command.ts';
import { apply } from './apply.ts';
import { exportPolicy } from './export.ts';
import { plan } from './plan.ts';
import { rollback } from './rollback.ts';
import { testPolicy } from './tests/test.ts';
import { diff, versions } from './versions.ts';

export const policyCommands: readonly Command[] = [
  exportPolicy,
  plan,
  apply,
  testPolicy,
  versions,
  diff,
  rollback,
];
