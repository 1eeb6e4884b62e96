import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import { useTexts } from '../../../i18n/language.ts';
import { useRights, useScope } from '../../../scopes/use-scope.ts';
import { invitationTexts } from '../invitations/invitation-texts.ts';
import { InviteForm } from '../invitations/invite-form.tsx';

/** Buttons to invite members and to open the invitations, because new members come by invitation. */
export function MemberTools() {
  const t = useTexts(invitationTexts);
  const scope = useScope();
  const { can } = useRights(scope);
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="buttons">
      {can('OrganizationInvitation:Query') && (
        <Link
          className="button"
          to="/$tenant/$id/$page"
          params={{ ...scope, page: 'invitations' }}
          search={{}}
        >
          {t.title}
        </Link>
      )}
      {can('OrganizationInvitation:Create') && (
        <button type="button" className="main" onClick={() => setOpen(true)}>
          {t.create}
        </button>
      )}
      {isOpen && <InviteForm onClose={() => setOpen(false)} />}
    </div>
  );
}
