import type { ChoiceSource } from '../../entities/declarations/form-field.ts';
import { aboutRole } from './about-role.ts';

/*
 * Rows to choose from in forms: a hundred per request, the newest first so that built-in ones come last. Search finds
 * the rest.
 */

const page = { limit: 100, sortField: 'createdAt', sortOrder: 'DESC' } as const;

type WithText = { readonly id: string; readonly name: string; readonly description: string | null };

/** A role as a choice, with what it is for. */
export const roleChoice = (role: WithText & Parameters<typeof aboutRole>[0]) => ({
  id: role.id,
  name: role.name,
  description: aboutRole(role),
});

/** Of groups and permissions most are built in: these are marked. */
const marked = ({ items }: { readonly items: readonly (WithText & { readonly isSystem: boolean })[] }) =>
  items.map(({ id, name, description, isSystem }) => ({ id, name, description, isBuiltIn: isSystem }));

/** Groups, with built-in ones marked. */
export const groupChoices: ChoiceSource = async (api, input) =>
  marked(await api.groups({ ...input, ...page }));
/** Roles, each with what it is for. */
export const roleChoices: ChoiceSource = async (api, input, can) =>
  (
    await api.roles({ ...input, ...page, ...(can('Group:Query') ? { relations: ['groups' as const] } : {}) })
  ).items.map(roleChoice);
/** All but the ownership of an organization, which owners give to people by hand. */
export const roleChoicesButOwner: ChoiceSource = async (api, input) => {
  const { items } = await api.roles({ ...input, ...page });
  return items.filter(({ isSystem, name }) => !isSystem || name !== 'Organization Owner').map(roleChoice);
};
/** Permissions, with built-in ones marked. */
export const permissionChoices: ChoiceSource = async (api, input) =>
  marked(await api.permissions({ ...input, ...page }));
/** With its colour, in which a row that gets the tag shows it. */
export const tagChoices: ChoiceSource = async (api, input) =>
  (await api.tags({ ...input, ...page })).items.map(({ id, name, color }) => ({ id, name, color }));
