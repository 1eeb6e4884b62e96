import { language } from '../../i18n/language.ts';
import { builtInRoles } from './built-in-roles.ts';

/** What a role is for: its own description, or what we say of a built-in one. Without both, the groups that it holds. */
export const aboutRole = ({
  name,
  description,
  isSystem,
  groups = [],
}: {
  readonly name: string;
  readonly description: string | null;
  readonly isSystem: boolean;
  readonly groups?: readonly { readonly name: string }[];
}): string | null =>
  (isSystem ? builtInRoles[language()][name] : undefined) ??
  description ??
  (groups.length > 0 ? groups.map((group) => group.name).join(', ') : null);
