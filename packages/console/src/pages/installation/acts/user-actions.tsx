import type { components } from '@doorward/node/client';
import { formInput } from '../../../entities/declarations/form-field.ts';
import { useTexts } from '../../../i18n/language.ts';
import { useRights, useScope } from '../../../scopes/use-scope.ts';
import { noteImpersonation } from '../../../session/impersonation.ts';
import { RowAction } from '../../keys/row-action.tsx';
import { actTexts } from './act-texts.ts';
import { reasonField } from './reason-field.ts';

type User = components['schemas']['InstallationUser'];

/** What an operator can do with a user. Each action needs a reason, which the user can read. */
export function UserActions({ user }: { readonly user: User }) {
  const t = useTexts(actTexts);
  const { can } = useRights(useScope());
  const { id, name } = user;
  const isPerson = user.kind === 'person' && !user.isManaged;
  const isActive = user.status === 'active';
  const about = { name, fields: [reasonField(t)] };
  return (
    <>
      {can('InstallationUser:EndSessions') && isPerson && (
        <RowAction
          {...about}
          label={t.endSessions}
          about={t.endSessionsAbout}
          save={(api, input) => api.endUserSessions(formInput<'endUserSessions'>(input, { id }))}
        />
      )}
      {can('InstallationUser:SendReset') && isPerson && isActive && (
        <RowAction
          {...about}
          label={t.sendReset}
          about={t.sendResetAbout}
          save={(api, input) => api.sendUserPasswordReset(formInput<'sendUserPasswordReset'>(input, { id }))}
        />
      )}
      {can('InstallationUser:ResetFactor') && isPerson && (
        <RowAction
          {...about}
          label={t.resetFactor}
          about={t.resetFactorAbout}
          fields={[
            reasonField(t),
            {
              kind: 'switch',
              name: 'immediately',
              label: t.immediately,
              hint: t.immediatelyHint,
              initial: false,
            },
          ]}
          isDangerous
          save={(api, input) => api.resetUserSecondFactor(formInput<'resetUserSecondFactor'>(input, { id }))}
        />
      )}
      {can('InstallationUser:Impersonate') && isPerson && isActive && (
        <RowAction
          {...about}
          label={t.impersonate}
          about={t.impersonateAbout}
          isDangerous
          save={async (api, input) => {
            const answer = await api.impersonateUser(formInput<'impersonateUser'>(input, { id }));
            noteImpersonation({ id: answer.impersonationId, name, seconds: answer.expiresIn });
            return answer;
          }}
          secretOf={({ accessToken }) => accessToken}
        />
      )}
      {can('InstallationUser:Suspend') && user.status !== 'suspended' && (
        <RowAction
          {...about}
          label={t.suspend}
          about={t.suspendAbout}
          isDangerous
          save={(api, input) => api.suspendUser(formInput<'suspendUser'>(input, { id }))}
        />
      )}
      {can('InstallationUser:Reactivate') && user.status === 'suspended' && (
        <RowAction
          {...about}
          label={t.reactivate}
          about={t.reactivateAbout}
          isMain
          save={(api, input) => api.reactivateUser(formInput<'reactivateUser'>(input, { id }))}
        />
      )}
    </>
  );
}
