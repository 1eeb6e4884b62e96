import type { Api, components } from '@doorward/node/client';
import type { Target } from '../../../entities/declarations/entity.ts';
import { nameField } from '../../../entities/declarations/fields.ts';
import type { Choice, FormField, Values } from '../../../entities/declarations/form-field.ts';
import type { Common } from '../../../i18n/common.ts';
import { language } from '../../../i18n/language.ts';
import { roleChoicesButOwner } from '../../access/choices.ts';
import type { ConnectionTexts } from './connection-texts.ts';
import { domainTexts } from '../domains/domain-texts.ts';

type Connection = components['schemas']['OrganizationConnection'];

/** Lists the domains of the organization to choose from, each with its status. */
export async function domainChoices(
  api: Api,
  input: Target & { readonly search?: string; readonly ids?: readonly string[] },
): Promise<readonly (Choice & { readonly description: string })[]> {
  const { ids, ...others } = input;
  const { items } = await api.organizationDomains({
    ...others,
    limit: 100,
    ...(ids ? { ids: [...ids] } : {}),
  });
  const { statuses } = domainTexts[language()];
  return items.map(({ id, domain, status }) => ({ id, name: domain, description: statuses[status] }));
}

/** The form fields of a connection. A new connection can't be enforced, because its provider isn't proven yet. */
export const connectionFields = (
  t: ConnectionTexts,
  row: Connection | null,
  c: Common,
): readonly FormField[] => [
  { ...nameField(c, row?.name), hint: t.nameHint },
  {
    kind: 'url',
    name: 'issuer',
    label: t.issuer,
    hint: t.issuerHint,
    isRequired: true,
    check: (value) => (URL.canParse(String(value)) ? null : t.noAddress),
    initial: row?.issuer ?? '',
  },
  { kind: 'text', name: 'clientId', label: t.clientId, isRequired: true, initial: row?.clientId ?? '' },
  {
    kind: 'password',
    name: 'clientSecret',
    label: t.clientSecret,
    hint: row ? `${t.secretHint} ${t.secretKept}` : t.secretHint,
    isRequired: row === null,
    isForeign: true,
    initial: '',
  },
  {
    kind: 'rows',
    name: 'domainIds',
    label: t.domains,
    hint: t.domainsHint,
    isRequired: true,
    noun: 'OrganizationDomain',
    source: domainChoices,
    initial: row?.domainIds ?? [],
  },
  {
    kind: 'row',
    name: 'defaultRoleId',
    label: t.defaultRole,
    hint: t.roleHint,
    isRequired: true,
    noun: 'Role',
    source: roleChoicesButOwner,
    initial: row?.defaultRoleId ?? null,
  },
  {
    kind: 'option',
    name: 'status',
    label: c.status,
    hint: t.statusHint,
    options: connectionStatuses(t),
    initial: row?.status ?? 'draft',
  },
  {
    kind: 'switch',
    name: 'justInTime',
    label: t.justInTime,
    hint: t.justInTimeHint,
    initial: row?.justInTime ?? true,
  },
  {
    kind: 'switch',
    name: 'trustMfa',
    label: t.trustMfa,
    hint: t.trustMfaHint,
    initial: row?.trustMfa ?? false,
  },
  ...(row
    ? [
        {
          kind: 'switch' as const,
          name: 'enforced',
          label: t.enforced,
          hint: t.enforcedHint,
          initial: row.enforced,
        },
      ]
    : []),
];

export const connectionStatuses = ({ statuses }: ConnectionTexts): readonly Choice[] =>
  (['draft', 'active', 'disabled'] as const).map((id) => ({ id, name: statuses[id] }));

/** Leaves out an empty secret, so that the stored one doesn't change. */
export function connectionInput(values: Values): Values {
  const { clientSecret, ...others } = values;
  return clientSecret === '' ? others : values;
}
