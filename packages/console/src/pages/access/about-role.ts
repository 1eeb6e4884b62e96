import { language } from '../../i18n/language.ts';
import { builtInRoles } from './built-in-roles.ts';

/** What a role is for: its own description, or what we say of a built-in one. */
export const aboutRole = ({
  name,
  description,
  isSystem,
}: {
  readonly name: string;
  readonly description: string | null;
  readonly isSystem: boolean;
}): string | null => (isSystem ? (builtInRoles[language()][name] ?? description) : description);
