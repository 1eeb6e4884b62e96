import { Link } from '@tanstack/react-router';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { mayDoTexts } from './may-do-texts.ts';

/** A link to the effective permissions of a user, shown to callers who may check them. */
export function MayDoLink({ userId }: { readonly userId: string }) {
  const t = useTexts(mayDoTexts);
  const scope = useScope();
  const { can } = useRights(scope);
  if (!can('Authorization:Check')) return null;
  return (
    <Link
      className="button"
      to="/$tenant/$id/$page/$row"
      params={{ ...scope, page: 'may-do', row: userId }}
      search={{}}
    >
      {t.title}
    </Link>
  );
}
