import { useState } from 'react';
import { useNavigate } from '@tanstack/react-router';
import type { components } from '@doorward/node/client';
import { EntityForm } from '../../../entities/forms/entity-form.tsx';
import { targetOf } from '../../../entities/declarations/entity.ts';
import { useTexts } from '../../../i18n/language.ts';
import { useRights, useScope } from '../../../scopes/use-scope.ts';
import { useMe } from '../../../scopes/use-scopes.ts';
import { memberTexts } from './member-texts.ts';

/** Marks the current user in the list of members. */
export function Self({ userId }: { readonly userId: string }) {
  const t = useTexts(memberTexts);
  const { data: me } = useMe();
  return me?.user.id === userId ? <small> ({t.you})</small> : null;
}

/** Marks a service user in the list of members. */
export function ServiceUserMark() {
  const t = useTexts(memberTexts);
  return <small> ({t.serviceUser})</small>;
}

/**
 * Removes a member, which needs a permission, or lets the user leave, which everyone may do. Shows the impact first.
 */
export function MemberActions({ member }: { readonly member: components['schemas']['Member'] }) {
  const t = useTexts(memberTexts);
  const scope = useScope();
  const { can } = useRights(scope);
  const { data: me } = useMe();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const isSelf = me?.user.id === member.id;
  if (!isSelf && !can('OrganizationMember:Remove')) return null;
  const label = isSelf ? t.leave : t.remove;
  const target = { ...targetOf(scope), userId: member.id };
  return (
    <>
      <button type="button" className="bad" onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && (
        <EntityForm
          title={`${label}: ${member.user.name}`}
          submitLabel={label}
          fields={[]}
          about={isSelf ? t.leaving : t.removal}
          isDangerous
          save={(api) => api.removeOrganizationMember(target)}
          preview={(api) => api.removeOrganizationMember({ ...target, dryRun: true })}
          onDone={() =>
            void (isSelf
              ? navigate({ to: '/' })
              : navigate({ to: '/$tenant/$id/$page', params: { ...scope, page: 'members' } }))
          }
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
