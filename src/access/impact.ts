import { z } from 'zod';
import { ScopeOutput } from '../kernel/scope.ts';
import { uuid } from '../values.ts';
import { EffectivePermission, type Effective } from './effective.ts';

/** What a change does to rights, as the lists before and after tell it. */
const permissions = z.array(EffectivePermission);

const Affected = z
  .object({
    subject: z
      .object({
        type: z
          .enum(['user', 'apiKey'])
          .meta({ id: 'AffectedSubjectType', description: 'A person or a machine.' }),
        id: uuid.describe('Id of the user or key.'),
      })
      .meta({ id: 'AffectedSubject', description: 'Whose rights would be others.' }),
    scope: ScopeOutput.describe('Where these permissions count.'),
    gains: permissions.describe('Not held before.'),
    loses: permissions.describe('Not held after.'),
    changes: permissions.meta({ description: 'Held before and after, under other conditions.' }),
  })
  .meta({ id: 'Affected', description: 'What somebody would gain and lose in a scope.' });
export type Affected = z.output<typeof Affected>;

/** How many subjects are looked at, each in each scope where the change could reach them; the nearest first. */
export const MOST_REACHED = 500;

/** The answer of a dry run. */
export const Impact = z
  .object({
    dryRun: z.literal(true).describe('Always true: nothing was changed.'),
    affected: z.array(Affected).meta({ description: 'By scope, the own one first, then by subject.' }),
    truncated: z.boolean().meta({
      description: `More than ${MOST_REACHED} subjects, or very many permissions, are in reach; the rest was not looked at.`,
    }),
  })
  .meta({ id: 'Impact', description: 'Who would gain and lose which permission. Nothing was changed.' });
export type Impact = z.output<typeof Impact>;

/** What is listed on one side only, and what is on both under other terms; empty lists if nothing. Sorted as they are. */
export function difference(
  before: readonly Effective[],
  after: readonly Effective[],
): Pick<Affected, 'gains' | 'loses' | 'changes'> {
  const [had, has] = [byKey(before), byKey(after)];
  return {
    gains: after.filter((one) => !had.has(keyOf(one))).map(shown),
    loses: before.filter((one) => !has.has(keyOf(one))).map(shown),
    changes: after.filter((one) => (had.get(keyOf(one))?.terms ?? one.terms) !== one.terms).map(shown),
  };
}

const keyOf = ({ resource, action, conditional }: Effective): string =>
  `${resource}:${action} ${conditional}`;
const byKey = (list: readonly Effective[]) => new Map(list.map((one) => [keyOf(one), one]));
const shown = ({ resource, action, conditional }: Effective) => ({ resource, action, conditional });
