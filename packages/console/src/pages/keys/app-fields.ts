import type { components } from '@doorward/node/client';
import { nameField } from '../../entities/fields.ts';
import type { Choice, FormField, Values } from '../../entities/form-field.ts';
import type { Common } from '../../i18n/common.ts';
import { roleChoices } from '../access/choices.ts';
import type { AppTexts } from './app-texts.ts';
import { profileField } from './token-profile.ts';

type ProjectApp = components['schemas']['ProjectApp'];

export const providerChoices = (t: AppTexts): readonly Choice[] => [
  { id: 'email', name: t.email },
  { id: 'password', name: t.password },
  { id: 'github', name: t.github },
];

/** The form of an app. Whether it keeps a secret is decided when it is made. */
export const appFields = (t: AppTexts, app: ProjectApp | null, c: Common): readonly FormField[] => [
  { ...nameField(c, app?.name), hint: t.nameHint, isHarmless: true },
  {
    kind: 'lines',
    name: 'redirectUris',
    label: t.redirects,
    hint: t.redirectsHint,
    isRequired: true,
    initial: app?.redirectUris ?? [],
  },
  {
    kind: 'rows',
    name: 'enabledProviders',
    label: t.providers,
    noun: 'ProjectAppProvider',
    source: () => Promise.resolve(providerChoices(t)),
    isRequired: true,
    initial: app?.enabledProviders ?? ['email'],
  },
  ...(app === null
    ? [
        {
          kind: 'switch' as const,
          name: 'confidential',
          label: t.confidential,
          hint: t.confidentialHint,
          initial: false,
        },
      ]
    : []),
  {
    kind: 'switch',
    name: 'isRestricted',
    label: t.restrict,
    hint: t.restrictHint,
    initial: app !== null && app.scopes !== null,
  },
  {
    kind: 'lines',
    name: 'scopes',
    label: t.scopes,
    hint: t.scopesHint,
    isShown: ({ isRestricted }) => isRestricted === true,
    initial: app?.scopes ?? [],
  },
  {
    kind: 'switch',
    name: 'allowSignUp',
    label: t.signUp,
    hint: t.signUpHint,
    initial: app?.allowSignUp ?? false,
  },
  {
    kind: 'row',
    name: 'signUpRoleId',
    label: t.role,
    noun: 'Role',
    source: roleChoices,
    isRequired: true,
    isShown: ({ allowSignUp }) => allowSignUp === true,
    initial: app?.signUpRoleId ?? null,
  },
  // A registered app never skips consent.
  ...(app?.registered
    ? []
    : [
        {
          kind: 'switch' as const,
          name: 'firstParty',
          label: t.firstParty,
          hint: t.firstPartyHint,
          initial: app?.firstParty ?? false,
        },
      ]),
  { kind: 'url', name: 'logoUrl', label: t.logo, isNullable: true, initial: app?.logoUrl ?? null },
  {
    kind: 'url',
    name: 'homepageUrl',
    label: t.homepage,
    isNullable: true,
    initial: app?.homepageUrl ?? null,
  },
  {
    kind: 'text',
    name: 'primaryColor',
    label: t.color,
    hint: t.colorHint,
    isNullable: true,
    initial: app?.primaryColor ?? null,
  },
  {
    kind: 'lines',
    name: 'allowedOrigins',
    label: t.origins,
    hint: t.originsHint,
    initial: app?.allowedOrigins ?? [],
  },
  {
    kind: 'lines',
    name: 'postLogoutRedirectUris',
    label: t.logoutRedirects,
    hint: t.logoutRedirectsHint,
    initial: app?.postLogoutRedirectUris ?? [],
  },
  {
    kind: 'url',
    name: 'backchannelLogoutUri',
    label: t.logoutNotice,
    hint: t.logoutNoticeHint,
    isNullable: true,
    initial: app?.backchannelLogoutUri ?? null,
  },
  {
    kind: 'lines',
    name: 'resources',
    label: t.resources,
    hint: t.resourcesHint,
    initial: app?.resources ?? [],
  },
  profileField(t, app?.accessTokenProfile),
];

/** What the form gives, as the operation takes it: null stands for an app that is not restricted. */
export const appInput = <V extends Values>({ isRestricted, ...input }: V) => ({
  ...input,
  scopes: isRestricted === true ? input['scopes'] : null,
  signUpRoleId: input['allowSignUp'] === true ? input['signUpRoleId'] : null,
  // The service takes lower case only, and what people copy is often not.
  primaryColor: typeof input['primaryColor'] === 'string' ? input['primaryColor'].toLowerCase() : null,
});
