import type { ChoiceSource } from '../../entities/declarations/form-field.ts';
import { aboutRole } from './about-role.ts';

/*
 * Sources of rows to choose from in forms. A request returns up to 100 rows, newest first, so that built-in rows come
 * last. Rows that aren't among the 100 can be found by searching.
 */

const page = { limit: 100, sortField: 'createdAt', sortOrder: 'DESC' } as const;

type WithText = { readonly id: string; readonly name: string; readonly description: string | null };

/** Converts a role to a choice with a description. */
export const roleChoice = (role: WithText & Parameters<typeof aboutRole>[0]) => ({
  id: role.id,
  name: role.name,
  description: aboutRole(role),
});

/** Converts rows to choices, and marks built-in rows. */
const marked = ({ items }: { readonly items: readonly (WithText & { readonly isSystem: boolean })[] }) =>
  items.map(({ id, name, description, isSystem }) => ({ id, name, description, isBuiltIn: isSystem }));

/** Lists groups to choose from. */
export const groupChoices: ChoiceSource = async (api, input) =>
  marked(await api.groups({ ...input, ...page }));
/** Lists roles to choose from, each with a description. */
export const roleChoices: ChoiceSource = async (api, input, can) =>
  (
    await api.roles({ ...input, ...page, ...(can('Group:Query') ? { relations: ['groups' as const] } : {}) })
  ).items.map(roleChoice);
/** Lists all roles except the ownership of an organization, which owners assign to members by hand. */
export const roleChoicesButOwner: ChoiceSource = async (api, input) => {
  const { items } = await api.roles({ ...input, ...page });
  return items.filter(({ isSystem, name }) => !isSystem || name !== 'Organization Owner').map(roleChoice);
};
/** Lists permissions to choose from. */
export const permissionChoices: ChoiceSource = async (api, input) =>
  marked(await api.permissions({ ...input, ...page }));
/** Lists tags to choose from, with their colors: a row shows a new tag before the service has responded. */
export const tagChoices: ChoiceSource = async (api, input) =>
  (await api.tags({ ...input, ...page })).items.map(({ id, name, color }) => ({ id, name, color }));
