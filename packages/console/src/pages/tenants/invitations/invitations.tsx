import type { components } from '@doorward/node/client';
import { textColumn, timeColumn } from '../../../entities/tables/columns.tsx';
import { EntityPage } from '../../../entities/entity-page.tsx';
import type { Entity } from '../../../entities/declarations/entity.ts';
import { onlyRow } from '../../../entities/tables/only-row.ts';
import { InvitationActions } from './invitation-actions.tsx';
import { invitationTexts, type InvitationTexts } from './invitation-texts.ts';
import { InviteForm } from './invite-form.tsx';

type Invitation = components['schemas']['Invitation'];

const relations = ['role', 'inviter'] as const;

const invitations: Entity<Invitation, InvitationTexts> = {
  noun: 'OrganizationInvitation',
  texts: invitationTexts,
  name: ({ email }) => email,
  columns: (t, c) => [
    textColumn('email', c.email, ({ email }) => email, { sortField: 'email' }),
    textColumn('role', c.role, ({ role }) => role?.name),
    textColumn('status', c.status, ({ status }) => t.statuses[status], { sortField: 'status' }),
    textColumn('inviter', t.invitedBy, ({ inviter }) => inviter?.name),
    timeColumn('expiresAt', t.expires, ({ expiresAt }) => expiresAt, { sortField: 'expiresAt' }),
    timeColumn('lastSentAt', t.sent, ({ lastSentAt }) => lastSentAt),
  ],
  filters: (t, c) => [
    {
      kind: 'option',
      name: 'status',
      label: c.status,
      initial: '',
      options: (['pending', 'accepted', 'expired', 'revoked'] as const).map((id) => ({
        id,
        name: t.statuses[id],
      })),
    },
  ],
  list: (api, input, signal) =>
    api.organizationInvitations({ ...input, relations: [...relations] }, { signal }),
  // `api.invitation` needs the token from the mail, so the row is read from the list.
  read: async (api, { id, ...input }, signal) =>
    onlyRow(
      await api.organizationInvitations({ ...input, ids: [id], relations: [...relations] }, { signal }),
    ),
  bulk: (t) => [
    {
      key: 'resend',
      label: t.resend,
      about: t.resending,
      needs: 'OrganizationInvitation:ResendEmail',
      fits: ({ status }) => status === 'pending',
      call: (api, input) => api.resendInvitation(input),
    },
    {
      key: 'revoke',
      label: t.revoke,
      about: t.revoking,
      needs: 'OrganizationInvitation:Revoke',
      isDangerous: true,
      fits: ({ status }) => status === 'pending' || status === 'expired',
      call: (api, input) => api.revokeInvitation(input),
    },
  ],
  createForm: (onClose) => <InviteForm onClose={onClose} />,
  actions: (invitation) => <InvitationActions invitation={invitation} />,
};

const InvitationsPage = () => <EntityPage entity={invitations} />;
export default InvitationsPage;
