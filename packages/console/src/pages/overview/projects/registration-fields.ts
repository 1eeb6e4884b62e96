import type { components } from '@doorward/node/client';
import type { FormField, Values } from '../../../entities/declarations/form-field.ts';
import type { Texts } from '../../../i18n/language.ts';

type Project = components['schemas']['Project'];

interface RegistrationTexts {
  readonly registration: string;
  readonly registrationHint: string;
  readonly off: string;
  readonly token: string;
  readonly scopes: string;
  readonly scopesHint: string;
  readonly resources: string;
  readonly resourcesHint: string;
}

export const registrationTexts: Texts<RegistrationTexts> = {
  en: {
    registration: 'Clients that register themselves',
    registrationHint:
      'Programs may make an app of their own, as RFC 7591 says. It works only if the operator has turned it on for this installation.',
    off: 'Not allowed',
    token: 'With the token of an API key that may create apps',
    scopes: 'Permissions of registered apps',
    scopesHint:
      'What they may request; one on each line, such as invoice:read. You must hold each that you add.',
    resources: 'Resource servers of registered apps',
    resourcesHint:
      'URIs of services for which they may request access tokens; one on each line, such as https://api.example.com.',
  },
  de: {
    registration: 'Clients, die sich selbst registrieren',
    registrationHint:
      'Programme dürfen selbst eine App anlegen, wie RFC 7591 es beschreibt. Das gilt nur, wenn es für diese Installation eingeschaltet ist.',
    off: 'Nicht erlaubt',
    token: 'Mit dem Token eines API-Schlüssels, der Apps anlegen darf',
    scopes: 'Berechtigungen registrierter Apps',
    scopesHint:
      'Was sie anfordern dürfen; eine je Zeile, etwa invoice:read. Sie müssen jede, die Sie hinzufügen, selbst haben.',
    resources: 'Ressourcenserver registrierter Apps',
    resourcesHint:
      'URIs von Diensten, für die sie Zugriffstoken anfordern dürfen; einer je Zeile, etwa https://api.example.com.',
  },
  es: {
    registration: 'Clientes que se registran por sí mismos',
    registrationHint:
      'Los programas pueden crear su propia aplicación, según RFC 7591. Solo funciona si está activado en esta instalación.',
    off: 'No permitido',
    token: 'Con el token de una clave de API que pueda crear aplicaciones',
    scopes: 'Permisos de las aplicaciones registradas',
    scopesHint:
      'Lo que pueden solicitar; uno por línea, como invoice:read. Usted debe tener cada uno que añada.',
    resources: 'Servidores de recursos de las aplicaciones registradas',
    resourcesHint:
      'URI de servicios para los que pueden solicitar tokens de acceso; uno por línea, como https://api.example.com.',
  },
  fr: {
    registration: 'Clients qui s’enregistrent eux-mêmes',
    registrationHint:
      'Des programmes peuvent créer leur propre application, selon la RFC 7591. Cela ne fonctionne que si l’opérateur l’a activé.',
    off: 'Non autorisé',
    token: 'Avec le jeton d’une clé d’API qui peut créer des applications',
    scopes: 'Permissions des applications enregistrées',
    scopesHint:
      'Ce qu’elles peuvent demander ; une par ligne, comme invoice:read. Vous devez avoir chacune de celles que vous ajoutez.',
    resources: 'Serveurs de ressources des applications enregistrées',
    resourcesHint:
      'URI des services pour lesquels elles peuvent demander des jetons d’accès ; un par ligne, comme https://api.example.com.',
  },
};

const isOn = ({ dynamicRegistration }: Values): boolean => dynamicRegistration === 'token';

/** The form fields for whether and how clients can register themselves as apps of the project. */
export const registrationFields = (
  t: RegistrationTexts,
  { dynamicRegistration, registrableScopes, registrableResources }: Project,
): readonly FormField[] => [
  {
    kind: 'option',
    name: 'dynamicRegistration',
    label: t.registration,
    hint: t.registrationHint,
    options: [
      { id: 'off', name: t.off },
      { id: 'token', name: t.token },
    ],
    initial: dynamicRegistration,
  },
  {
    kind: 'lines',
    name: 'registrableScopes',
    label: t.scopes,
    hint: t.scopesHint,
    isShown: isOn,
    initial: registrableScopes,
  },
  {
    kind: 'lines',
    name: 'registrableResources',
    label: t.resources,
    hint: t.resourcesHint,
    isShown: isOn,
    initial: registrableResources,
  },
];

/** Leaves out unchanged values. Whenever permissions are sent, the service checks them against those of the user. */
export const registrationInput = (project: Project, values: Values): Values => {
  const names = ['dynamicRegistration', 'registrableScopes', 'registrableResources'] as const;
  const same = names.filter((name) => JSON.stringify(values[name]) === JSON.stringify(project[name]));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !same.some((other) => other === name)));
};
