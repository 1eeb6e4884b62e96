import type { ChoiceSource } from '../../entities/form-field.ts';
import { roleChoice } from '../access/choices.ts';

/** The roles that a service user may have: all but the ownership of an organization, which is for people alone. */
export const machineRoleChoices: ChoiceSource = async (api, input) => {
  const { items } = await api.roles({ ...input, limit: 100, sortField: 'createdAt', sortOrder: 'DESC' });
  return items.filter(({ isSystem, name }) => !isSystem || name !== 'Organization Owner').map(roleChoice);
};
