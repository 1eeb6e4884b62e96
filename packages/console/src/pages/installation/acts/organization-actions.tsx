import type { components } from '@doorward/node/client';
import { formInput } from '../../../entities/declarations/form-field.ts';
import { useTexts } from '../../../i18n/language.ts';
import { useRights, useScope } from '../../../scopes/use-scope.ts';
import { RowAction } from '../../keys/row-action.tsx';
import { actTexts } from './act-texts.ts';
import { organizationTexts } from '../organization-texts.ts';
import { reasonField } from './reason-field.ts';

type Organization = components['schemas']['InstallationOrganization'];

/** What an operator can do with an organization. Each action needs a reason, which the owners can read. */
export function OrganizationActions({ organization }: { readonly organization: Organization }) {
  const t = useTexts(organizationTexts);
  const fields = [reasonField(useTexts(actTexts))];
  const { can } = useRights(useScope());
  const { id, name, status } = organization;
  return (
    <>
      {can('InstallationOrganization:Suspend') && status === 'active' && (
        <RowAction
          name={name}
          fields={fields}
          label={t.suspend}
          about={t.suspendAbout}
          isDangerous
          save={(api, input) => api.suspendOrganization(formInput<'suspendOrganization'>(input, { id }))}
        />
      )}
      {can('InstallationOrganization:Reactivate') && status === 'suspended' && (
        <RowAction
          name={name}
          fields={fields}
          label={t.reactivate}
          about={t.reactivateAbout}
          isMain
          save={(api, input) =>
            api.reactivateOrganization(formInput<'reactivateOrganization'>(input, { id }))
          }
        />
      )}
    </>
  );
}
