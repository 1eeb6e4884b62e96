import { language } from '../../i18n/language.ts';
import { builtInRoles } from './built-in-roles.ts';

/** Describes a role: our text for a built-in role, otherwise its own description, otherwise the names of its groups. */
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
