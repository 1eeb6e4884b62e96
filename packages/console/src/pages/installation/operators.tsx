import { useMemo } from 'react';
import type { components } from '@doorward/node/client';
import { createdColumn, nameColumn, textColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity } from '../../entities/declarations/entity.ts';
import { formInput, type ChoiceSource } from '../../entities/declarations/form-field.ts';
import { onlyRow } from '../../entities/tables/only-row.ts';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { RowAction } from '../keys/row-action.tsx';
import { actTexts, type ActTexts } from './acts/act-texts.ts';
import { operatorTexts, type OperatorTexts } from './operator-texts.ts';
import { reasonField } from './acts/reason-field.ts';

/** A row with an id of its own: the same user can be an operator both by configuration and by another operator. */
type Operator = components['schemas']['Operator'] & { readonly id: string };

const withId = (operator: components['schemas']['Operator']): Operator => ({
  ...operator,
  id: operator.source === 'configuration' ? `${operator.userId}.configuration` : operator.userId,
});

const roleChoices: ChoiceSource = async (api, input) => (await api.installation(input)).roles;

const operatorsFor = (a: ActTexts): Entity<Operator, OperatorTexts> => ({
  noun: 'Operator',
  path: () => 'installation/operators',
  texts: operatorTexts,
  hasSearch: false,
  name: ({ name }) => name,
  columns: (t, c) => [
    { ...nameColumn<Operator>(c), sortField: '' },
    textColumn('email', c.email, ({ email }) => email),
    textColumn('role', c.role, ({ role }) => role.name),
    textColumn('source', t.source, ({ source }) => t.sources[source]),
    { ...createdColumn<Operator>(c), sortField: '' },
  ],
  list: async (api, { scope }, signal) => {
    const { items } = await api.operators({ scope }, { signal });
    return { items: items.map(withId), totalCount: items.length, hasNextPage: false, nextCursor: null };
  },
  read: async (api, { scope, id }, signal) => {
    const { items } = await api.operators({ scope }, { signal });
    return onlyRow({ items: items.map(withId).filter((operator) => operator.id === id) });
  },
  fields: (t, _row, c) => [
    { kind: 'email', name: 'email', label: c.email, hint: t.emailHint, isRequired: true, initial: '' },
    {
      kind: 'row',
      name: 'roleId',
      label: c.role,
      noun: 'Role',
      isRequired: true,
      source: roleChoices,
      initial: null,
    },
    reasonField(a),
  ],
  create: async (api, input) => withId(await api.createOperator(formInput<'createOperator'>(input))),
  actions: (operator) => <Removal operator={operator} />,
});

function Removal({ operator }: { readonly operator: Operator }) {
  const t = useTexts(operatorTexts);
  const a = useTexts(actTexts);
  const { can } = useRights(useScope());
  if (operator.source === 'configuration') return <p className="hint">{t.configured}</p>;
  if (!can('Operator:Delete')) return null;
  return (
    <RowAction
      label={t.remove}
      name={operator.name}
      about={t.removal}
      fields={[reasonField(a)]}
      isDangerous
      save={(api, input) =>
        api.deleteOperator(formInput<'deleteOperator'>(input, { userId: operator.userId }))
      }
    />
  );
}

export default function OperatorsPage() {
  const a = useTexts(actTexts);
  return <EntityPage entity={useMemo(() => operatorsFor(a), [a])} />;
}
