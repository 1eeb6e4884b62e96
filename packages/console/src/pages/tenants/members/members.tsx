import { useMemo } from 'react';
import type { components } from '@doorward/node/client';
import { textColumn, timeColumn } from '../../../entities/tables/columns.tsx';
import { EntityPage } from '../../../entities/entity-page.tsx';
import type { Entity } from '../../../entities/declarations/entity.ts';
import { onlyRow } from '../../../entities/tables/only-row.ts';
import { useMe } from '../../../scopes/use-scopes.ts';
import { roleChoices } from '../../access/choices.ts';
import { MayDoLink } from '../../subjects/may-do-link.tsx';
import { formInput } from '../../../entities/declarations/form-field.ts';
import { MemberActions, Self, ServiceUserMark } from './member-actions.tsx';
import { MemberTools } from './member-tools.tsx';
import { memberTexts, type MemberTexts } from './member-texts.ts';

type Member = components['schemas']['Member'];

const membersFor = (ownId: string | undefined): Entity<Member, MemberTexts> => ({
  noun: 'OrganizationMember',
  texts: memberTexts,
  name: ({ user }) => user.name,
  columns: (t, c) => [
    {
      key: 'name',
      label: c.name,
      sortField: 'name',
      text: ({ user }) => user.name,
      cell: ({ id, user }) => (
        <>
          <bdi>{user.name}</bdi>
          <Self userId={id} />
          {user.kind === 'service' && <ServiceUserMark />}
        </>
      ),
    },
    textColumn('email', c.email, ({ user }) => user.email, { sortField: 'email' }),
    textColumn('role', c.role, ({ role }) => role.name),
    timeColumn('createdAt', t.joined, ({ joinedAt }) => joinedAt, { sortField: 'createdAt' }),
  ],
  list: (api, input, signal) => api.organizationMembers(input, { signal }),
  // The id of a member is the id of the user. No operation reads one member, so the row is read from the list.
  read: async (api, { id, ...input }, signal) =>
    onlyRow(await api.organizationMembers({ ...input, ids: [id] }, { signal })),
  fields: (t, member, c) => [
    {
      kind: 'row',
      name: 'roleId',
      label: c.role,
      hint: t.roleHint,
      isRequired: true,
      noun: 'Role',
      source: roleChoices,
      initial: member?.roleId ?? null,
    },
  ],
  update: (api, { id, ...input }) =>
    api.updateOrganizationMember(formInput<'updateOrganizationMember'>(input, { userId: id })),
  hasImpact: true,
  // Users can't change their own role.
  isFixed: ({ id }) => id === ownId,
  tools: () => <MemberTools />,
  bulk: (t) => [
    {
      key: 'removeMember',
      label: t.remove,
      about: t.removal,
      needs: 'OrganizationMember:Remove',
      isDangerous: true,
      fits: ({ id }) => id !== ownId,
      call: (api, { id, ...input }) => api.removeOrganizationMember({ ...input, userId: id }),
      preview: (api, { id, ...input }) =>
        api.removeOrganizationMember({ ...input, userId: id, dryRun: true }),
    },
  ],
  actions: (member) => (
    <>
      <MayDoLink userId={member.id} />
      <MemberActions member={member} />
    </>
  ),
});

export default function MembersPage() {
  const { data: me } = useMe();
  const ownId = me?.user.id;
  return <EntityPage entity={useMemo(() => membersFor(ownId), [ownId])} />;
}
