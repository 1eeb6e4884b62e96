import { NewRow } from '../../entities/forms/new-row.tsx';
import { ScopeContext } from '../../scopes/use-scope.ts';
import { organizations } from './organizations.tsx';

/** The form for a new organization of an account, for pages that aren't in the scope of the account. */
export default function NewOrganization({
  accountId,
  onClose,
}: {
  readonly accountId: string;
  readonly onClose: () => void;
}) {
  return (
    <ScopeContext value={{ tenant: 'account', id: accountId }}>
      <NewRow entity={organizations} isOpen onClose={onClose} />
    </ScopeContext>
  );
}
