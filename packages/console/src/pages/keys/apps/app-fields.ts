import type { components } from '@doorward/node/client';
import { nameField } from '../../../entities/declarations/fields.ts';
import type { Choice, ChoiceSource, FormField, Values } from '../../../entities/declarations/form-field.ts';
import type { Common } from '../../../i18n/common.ts';
import { roleChoices } from '../../access/choices.ts';
import { colourField, colourOf } from '../../branding/colour-field.ts';
import { isUploaded } from '../../branding/logo.ts';
import { signInPreviewOf } from '../../branding/previews.tsx';
import type { AppTexts } from './app-texts.ts';
import { profileField } from '../token-profile.ts';

type ProjectApp = components['schemas']['ProjectApp'];

const ownMethods = ['email', 'password', 'passkey', 'github'] as const;

export const providerChoices = (t: AppTexts): readonly Choice[] =>
  ownMethods.map((method) => ({ id: method, name: t[method] }));

/** Lists the sign-in methods of our own pages, GitHub, and the providers of the installation. */
const methodChoices =
  (t: AppTexts): ChoiceSource =>
  async (api) => {
    const { items } = await api.signInProviders({});
    const others = items.filter(({ key }) => key !== 'github').map(({ key, name }) => ({ id: key, name }));
    return [...providerChoices(t), ...others];
  };

/** The form fields of an app. Only a new app can be made confidential. */
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
    source: methodChoices(t),
    isRequired: true,
    initial: app ? [...app.enabledProviders, ...app.identityProviders] : ['email'],
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
  // An app that registered itself can never skip consent.
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
  // An uploaded logo is replaced and removed in the panel, where it is shown.
  ...(isUploaded(app?.logoUrl)
    ? []
    : [
        {
          kind: 'url' as const,
          name: 'logoUrl',
          label: t.logo,
          isNullable: true,
          initial: app?.logoUrl ?? null,
        },
      ]),
  {
    kind: 'url',
    name: 'homepageUrl',
    label: t.homepage,
    isNullable: true,
    initial: app?.homepageUrl ?? null,
  },
  colourField(t.color, t, app?.primaryColor, (values) =>
    signInPreviewOf({ logoUrl: app?.logoUrl ?? null, ...values }),
  ),
  {
    kind: 'text',
    name: 'senderName',
    label: t.senderName,
    hint: t.senderNameHint,
    isNullable: true,
    initial: app?.senderName ?? null,
  },
  { kind: 'json', name: 'texts', label: t.texts, hint: t.textsHint, initial: app?.texts ?? [] },
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
  {
    kind: 'switch',
    name: 'idTokenClaims',
    label: t.idTokenClaims,
    hint: t.idTokenClaimsHint,
    initial: app?.idTokenClaims ?? false,
  },
];

const isOwnMethod = (method: string): boolean => ownMethods.some((own) => own === method);
const methodsOf = ({ enabledProviders }: Values): readonly string[] => enabledProviders as readonly string[];

/** Converts the values of the form to the input of the operation. `scopes` is null for an unrestricted app. */
export const appInput = <V extends Values>({ isRestricted, ...input }: V) => ({
  ...input,
  enabledProviders: methodsOf(input).filter(isOwnMethod),
  identityProviders: methodsOf(input).filter((method) => !isOwnMethod(method)),
  scopes: isRestricted === true ? input['scopes'] : null,
  signUpRoleId: input['allowSignUp'] === true ? input['signUpRoleId'] : null,
  primaryColor: colourOf(input['primaryColor']),
});
