import type { components } from '@doorward/node/client';
import type { FormField, Values } from '../../entities/declarations/form-field.ts';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { RowAction } from '../keys/row-action.tsx';
import { grantTexts } from './grant-texts.ts';

type Grant = components['schemas']['ProjectGrant'];

/** Leaves out an empty reason, because the reason is optional. */
const withReason = ({ reason, ...input }: Values): Values =>
  typeof reason === 'string' && reason.trim() ? { ...input, reason } : input;

/** What the owner of the project can do with a grant, depending on its status. */
export function CustomerActions({ grant }: { readonly grant: Grant }) {
  const t = useTexts(grantTexts);
  const { can } = useRights(useScope());
  const { id, name, status } = grant;
  const reason: FormField = { kind: 'text', name: 'reason', label: t.reason, initial: '' };
  const mayUpdate = can('ProjectGrant:Update');
  return (
    <>
      {mayUpdate && status === 'pending' && (
        <RowAction
          label={t.resend}
          name={name}
          about={t.resendAbout}
          save={(api, input) => api.resendProjectGrant({ ...input, id })}
        />
      )}
      {mayUpdate && status === 'active' && (
        <RowAction
          label={t.suspend}
          name={name}
          about={t.suspendAbout}
          fields={[reason]}
          isDangerous
          save={(api, input) => api.suspendProjectGrant({ ...withReason(input), id })}
        />
      )}
      {mayUpdate && status === 'suspended' && (
        <RowAction
          label={t.resume}
          name={name}
          about={t.resumeAbout}
          fields={[reason]}
          isMain
          save={(api, input) => api.resumeProjectGrant({ ...withReason(input), id })}
        />
      )}
      {can('ProjectGrant:Revoke') && ['pending', 'active', 'suspended'].includes(status) && (
        <RowAction
          label={t.revoke}
          name={name}
          about={t.revokeAbout}
          fields={[reason]}
          isDangerous
          save={(api, input) => api.revokeProjectGrant({ ...withReason(input), id })}
        />
      )}
    </>
  );
}
