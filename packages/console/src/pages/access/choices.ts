import type { ChoiceSource } from '../../entities/form-field.ts';

/** Rows to choose from in forms: a hundred at once, the newest first so that built-in ones come last; the rest by search. */
const page = { limit: 100, sortField: 'createdAt', sortOrder: 'DESC' } as const;

const named = ({ items }: { readonly items: readonly { readonly id: string; readonly name: string }[] }) =>
  items.map(({ id, name }) => ({ id, name }));

/** Of groups and permissions most are built in: these are marked. */
const marked = ({
  items,
}: {
  readonly items: readonly { readonly id: string; readonly name: string; readonly isSystem: boolean }[];
}) => items.map(({ id, name, isSystem }) => ({ id, name, isBuiltIn: isSystem }));

export const groupChoices: ChoiceSource = async (api, input) =>
  marked(await api.groups({ ...input, ...page }));
export const roleChoices: ChoiceSource = async (api, input) => named(await api.roles({ ...input, ...page }));
export const permissionChoices: ChoiceSource = async (api, input) =>
  marked(await api.permissions({ ...input, ...page }));
/** With its colour, in which a row that gets the tag shows it. */
export const tagChoices: ChoiceSource = async (api, input) =>
  (await api.tags({ ...input, ...page })).items.map(({ id, name, color }) => ({ id, name, color }));
