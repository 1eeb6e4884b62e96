import { z } from 'zod';
import { ScopeOutput } from '../../kernel/scope.ts';
import { uuid } from '../../kernel/input/values.ts';
import { EffectivePermission, type Effective } from '../grants/effective.ts';

/* The effect of a change: the difference between the permissions before and after it. */

const permissions = z.array(EffectivePermission);

export const Affected = z
  .object({
    subject: z
      .object({
        type: z
          .enum(['user', 'apiKey'])
          .meta({ id: 'AffectedSubjectType', description: 'A person or a machine.' }),
        id: uuid.describe('Id of the user or key.'),
      })
      .meta({ id: 'AffectedSubject', description: 'The user or key whose permissions would change.' }),
    scope: ScopeOutput.describe('The scope in which these permissions have effect.'),
    gains: permissions.describe('Not held before.'),
    loses: permissions.describe('Not held after.'),
    changes: permissions.meta({ description: 'Held before and after, but under different conditions.' }),
  })
  .meta({
    id: 'Affected',
    description: 'The permissions that a user or key would gain and lose in a scope.',
  });
export type Affected = z.output<typeof Affected>;

/**
 * The maximum number of subjects that a dry run compares, counted once per scope; subjects of the call's scope come
 * first.
 */
export const MAX_AFFECTED = 500;

/** The output of a dry run. */
export const Impact = z
  .object({
    dryRun: z.literal(true).describe('Always true: nothing was changed.'),
    affected: z
      .array(Affected)
      .meta({ description: 'By scope, the scope of the call first, then by subject.' }),
    truncated: z.boolean().meta({
      description: `The change may affect more than ${MAX_AFFECTED} subjects, or very many permissions; the rest was not compared.`,
    }),
  })
  .meta({ id: 'Impact', description: 'Who would gain and lose which permission. Nothing was changed.' });
export type Impact = z.output<typeof Impact>;

/**
 * Returns the permissions that are in only one list, and those that are in both with different terms, in the order of
 * the lists.
 */
export function difference(
  before: readonly Effective[],
  after: readonly Effective[],
): Pick<Affected, 'gains' | 'loses' | 'changes'> {
  const [had, has] = [byKey(before), byKey(after)];
  return {
    gains: after.filter((effective) => !had.has(keyOf(effective))).map(withoutTerms),
    loses: before.filter((effective) => !has.has(keyOf(effective))).map(withoutTerms),
    changes: after
      .filter((effective) => (had.get(keyOf(effective))?.terms ?? effective.terms) !== effective.terms)
      .map(withoutTerms),
  };
}

const keyOf = ({ resource, action, conditional }: Effective): string =>
  `${resource}:${action} ${conditional}`;
const byKey = (list: readonly Effective[]) => new Map(list.map((effective) => [keyOf(effective), effective]));
const withoutTerms = ({ resource, action, conditional }: Effective) => ({ resource, action, conditional });
