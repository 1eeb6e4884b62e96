import type { components } from '@doorward/node/client';
import { useTexts, type Texts } from '../../i18n/language.ts';

type Actor = components['schemas']['AuditActor'] | components['schemas']['EventActor'];
type Kind = Actor['type'];

const actorKinds: Texts<Readonly<Record<Kind, string>>> = {
  en: {
    user: 'User',
    apiKey: 'API key',
    projectApp: 'App',
    system: 'The service',
    anonymous: 'Not signed in',
  },
  de: {
    user: 'Person',
    apiKey: 'API-Schlüssel',
    projectApp: 'App',
    system: 'Der Dienst',
    anonymous: 'Nicht angemeldet',
  },
  es: {
    user: 'Usuario',
    apiKey: 'Clave de API',
    projectApp: 'Aplicación',
    system: 'El servicio',
    anonymous: 'Sin sesión',
  },
  fr: {
    user: 'Utilisateur',
    apiKey: 'Clé d’API',
    projectApp: 'Application',
    system: 'Le service',
    anonymous: 'Non connecté',
  },
};

/** Returns the name that the actor had at the time, otherwise the actor's id or type. */
export const actorName = (actor: Actor): string =>
  ('name' in actor ? actor.name : null) ?? actor.id ?? actor.type;

/** Shows who did something: the name that the actor had at the time, and the type. */
export function Actor({ actor }: { readonly actor: Actor }) {
  const kinds = useTexts(actorKinds);
  const name = 'name' in actor ? actor.name : null;
  return (
    <span title={actor.id ?? undefined}>
      {name !== null && <bdi>{name}</bdi>} <small>{kinds[actor.type]}</small>
    </span>
  );
}
