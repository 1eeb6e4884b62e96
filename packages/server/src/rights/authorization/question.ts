import { z } from 'zod';
import { fail } from '../../errors.ts';
import { contextResource } from './context-resource.ts';
import { parsePermissionName, PermissionName } from './permission-name.ts';

const word = z.string().min(1).max(128);

/** The input of every check: the permission, and attributes that conditions may read. */
export const question = {
  permission: z
    .union([
      z
        .strictObject({
          resource: word.meta({ description: 'Slug of the resource.', examples: ['invoice'] }),
          action: word.meta({ description: 'The action on it.', examples: ['read'] }),
        })
        .meta({ id: 'PermissionQuestionInput', description: 'The permission to check.' }),
      PermissionName.meta({ restOnly: true }),
    ])
    .optional()
    .meta({
      description: 'The permission to check; REST also accepts `resource:action`.',
      examples: [{ resource: 'invoice', action: 'read' }],
    }),
  permissionName: PermissionName.optional().meta({
    description: 'The same as `resource:action`, for GraphQL, in place of `permission`.',
  }),
  context: z
    .strictObject({
      resource: contextResource.nullish().meta({
        description: 'Attributes of the row itself, e.g. its owner.',
        examples: [{ amount: 120 }],
      }),
    })
    .optional()
    .meta({ id: 'CheckContextInput', description: 'Attributes that conditions may read.' }),
};
export type CheckQuestion = z.output<z.ZodObject<typeof question>>;

/** Asserts that a question has either `permission` or `permissionName`. @throws VALIDATION_ERROR */
export function assertOnePermission({ permission, permissionName }: CheckQuestion, pathPrefix: string): void {
  if ((permission === undefined) !== (permissionName === undefined)) return;
  const isMissing = permission === undefined;
  const path = `${pathPrefix}${isMissing ? 'permission' : 'permissionName'}`;
  throw fail('VALIDATION_ERROR', { details: [{ path, code: isMissing ? 'required' : 'excluded' }] });
}

/** The question of a check, in the form that `evaluate` takes. */
export const questionOf = ({ permission, permissionName, context }: CheckQuestion) => {
  const requested = permission ?? permissionName ?? '';
  const { resource, action } = typeof requested === 'string' ? parsePermissionName(requested) : requested;
  return { resource, action, attributes: context?.resource ?? null };
};
