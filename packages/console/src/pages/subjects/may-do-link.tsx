import { Link } from '@tanstack/react-router';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { mayDoTexts } from './may-do-texts.ts';

/** From a user to what they may do here, for who may check it. */
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
