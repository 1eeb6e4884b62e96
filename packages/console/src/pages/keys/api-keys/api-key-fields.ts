import { descriptionField, nameField } from '../../../entities/declarations/fields.ts';
import type { ChoiceSource, FormField, Values } from '../../../entities/declarations/form-field.ts';
import type { Common } from '../../../i18n/common.ts';
import { roleChoices } from '../../access/choices.ts';
import type { ApiKeyTexts } from './api-key-texts.ts';
import type { ManagementKeyTexts } from './management-key-texts.ts';
import { profileField } from '../token-profile.ts';

/** Whom a new key can act as, depending on the caller's permissions. */
export interface KeyCreation {
  /** The id of the caller, if it is loaded. The caller may always create a key that acts as themselves. */
  readonly userId: string | undefined;
  readonly mayActAsOthers: boolean;
}

const LIMIT = 100;
const userChoices: ChoiceSource = async (api, input) =>
  (await api.users({ ...input, limit: LIMIT })).items.map(({ id, name, email }) => ({
    id,
    name: email ? `${name} (${email})` : name,
  }));

const isRole = ({ actsAs }: Values): boolean => actsAs === 'role';
const isUser = ({ actsAs }: Values): boolean => actsAs === 'user';

/** The form fields of a new key. A key can't be changed later. */
export const apiKeyFields = (
  t: ApiKeyTexts,
  c: Common,
  { userId, mayActAsOthers }: KeyCreation,
): readonly FormField[] => [
  nameField(c),
  descriptionField(c),
  {
    kind: 'option',
    name: 'actsAs',
    label: t.actsAs,
    hint: t.actsAsHint,
    initial: 'role',
    options: [
      { id: 'role', name: t.asRole },
      ...(userId === undefined ? [] : [{ id: 'me', name: t.asMe }]),
      ...(mayActAsOthers ? [{ id: 'user', name: t.asUser }] : []),
    ],
  },
  {
    kind: 'row',
    name: 'userId',
    label: t.user,
    noun: 'User',
    source: userChoices,
    isRequired: true,
    isShown: isUser,
    initial: null,
  },
  {
    kind: 'row',
    name: 'roleId',
    label: t.role,
    hint: t.roleHint,
    noun: 'Role',
    source: roleChoices,
    isRequired: true,
    isShown: isRole,
    initial: null,
  },
  {
    kind: 'row',
    name: 'roleId',
    label: t.role,
    hint: t.roleOfUserHint,
    noun: 'Role',
    source: roleChoices,
    isShown: (values) => !isRole(values),
    initial: null,
  },
  ...lifetimeFields(t),
];

const machineChoices: ChoiceSource = async (api, input) =>
  (await api.users({ ...input, kind: 'service', limit: LIMIT })).items.map(({ id, name }) => ({ id, name }));

/** The form fields of a new key of an organization or account. Such a key acts as a service user and has no role. */
export const managementKeyFields = (t: ManagementKeyTexts, c: Common): readonly FormField[] => [
  nameField(c),
  descriptionField(c),
  {
    kind: 'row',
    name: 'userId',
    label: t.machine,
    hint: t.machineHint,
    noun: 'User',
    source: machineChoices,
    isRequired: true,
    initial: null,
  },
  ...lifetimeFields(t),
];

/** The form fields for how long a key is valid, from which networks, and which profile its tokens have. */
export const lifetimeFields = (t: ApiKeyTexts): readonly FormField[] => [
  { kind: 'date', name: 'expiresAt', label: t.expiry, hint: t.expiryHint, initial: null },
  { kind: 'lines', name: 'allowedCidrs', label: t.networks, hint: t.networksHint, initial: [] },
  profileField(t),
];
