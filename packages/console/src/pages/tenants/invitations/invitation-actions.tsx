import { useState } from 'react';
import type { components } from '@doorward/node/client';
import { useChange } from '../../../api/use-api.ts';
import { EntityForm } from '../../../entities/forms/entity-form.tsx';
import { targetOf } from '../../../entities/declarations/entity.ts';
import { useTexts } from '../../../i18n/language.ts';
import { useRights, useScope } from '../../../scopes/use-scope.ts';
import { announce } from '../../../ui/announcer.tsx';
import { ErrorBox } from '../../../session/error-box.tsx';
import { invitationTexts } from './invitation-texts.ts';

type Invitation = components['schemas']['Invitation'];

/**
 * A pending invitation can be resent, renewed and revoked, an expired one renewed and revoked, and others not at all.
 */
export function InvitationActions({
  invitation: { id, email, status },
}: {
  readonly invitation: Invitation;
}) {
  const t = useTexts(invitationTexts);
  const scope = useScope();
  const { can } = useRights(scope);
  const [isRevoking, setRevoking] = useState(false);
  const target = { ...targetOf(scope), id };
  const mail = useChange((api, act: 'resend' | 'renew') =>
    act === 'resend' ? api.resendInvitation(target) : api.renewInvitation(target),
  );
  const send = (act: 'resend' | 'renew'): void => mail.mutate(act, { onSuccess: () => announce(t.mailed) });
  const isAlive = status === 'pending' || status === 'expired';
  if (!isAlive) return null;
  return (
    <>
      {status === 'pending' && can('OrganizationInvitation:ResendEmail') && (
        <button type="button" disabled={mail.isPending} onClick={() => send('resend')}>
          {t.resend}
        </button>
      )}
      {can('OrganizationInvitation:Renew') && (
        <button type="button" disabled={mail.isPending} onClick={() => send('renew')}>
          {t.renew}
        </button>
      )}
      {can('OrganizationInvitation:Revoke') && (
        <button type="button" className="bad" onClick={() => setRevoking(true)}>
          {t.revoke}
        </button>
      )}
      {mail.error && <ErrorBox error={mail.error} />}
      {isRevoking && (
        <EntityForm
          title={`${t.revoke}: ${email}`}
          submitLabel={t.revoke}
          fields={[]}
          about={t.revoking}
          isDangerous
          save={(api) => api.revokeInvitation(target)}
          onDone={() => setRevoking(false)}
          onClose={() => setRevoking(false)}
        />
      )}
    </>
  );
}
