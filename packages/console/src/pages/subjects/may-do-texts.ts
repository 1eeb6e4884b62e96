import type { Texts } from '../../i18n/language.ts';

interface Forms {
  readonly one: string;
  readonly other: string;
}

interface MayDoTexts {
  readonly title: string;
  readonly about: string;
  readonly readOnly: string;
  readonly who: string;
  readonly show: string;
  readonly openFromMember: string;
  readonly pages: string;
  readonly hiddenPages: string;
  readonly lacks: string;
  readonly permissions: string;
  readonly count: Forms;
  readonly resource: string;
  readonly actions: string;
  readonly conditional: string;
  readonly nothing: string;
  readonly nothingHint: string;
}

export const mayDoTexts: Texts<MayDoTexts> = {
  en: {
    title: 'What they may do',
    about: 'Choose a person to see what they may do here, and which pages of this console they see.',
    readOnly: 'What this person may do here now. You keep your own session: nothing is done for them.',
    who: 'Person',
    show: 'Show',
    openFromMember: 'On the page “Members”, open a member and choose “What they may do”.',
    pages: 'Pages that they see here',
    hiddenPages: 'Pages that they do not see',
    lacks: 'lacks',
    permissions: 'Permissions',
    count: { one: '# permission', other: '# permissions' },
    resource: 'Resource',
    actions: 'Actions',
    conditional: 'under a condition',
    nothing: 'This person may do nothing here.',
    nothingHint: 'They are disabled, or have no role here that gives a permission.',
  },
  de: {
    title: 'Was jemand darf',
    about:
      'Wählen Sie eine Person und sehen Sie, was sie hier darf und welche Seiten dieser Konsole sie sieht.',
    readOnly:
      'Was diese Person hier jetzt darf. Sie behalten Ihre eigene Sitzung: Nichts geschieht in ihrem Namen.',
    who: 'Person',
    show: 'Anzeigen',
    openFromMember: 'Öffnen Sie auf der Seite „Mitglieder“ ein Mitglied, und wählen Sie „Was jemand darf“.',
    pages: 'Seiten, die sie hier sieht',
    hiddenPages: 'Seiten, die sie nicht sieht',
    lacks: 'es fehlt',
    permissions: 'Berechtigungen',
    count: { one: '# Berechtigung', other: '# Berechtigungen' },
    resource: 'Ressource',
    actions: 'Aktionen',
    conditional: 'unter einer Bedingung',
    nothing: 'Diese Person darf hier nichts.',
    nothingHint: 'Sie ist gesperrt oder hat hier keine Rolle mit einer Berechtigung.',
  },
  es: {
    title: 'Qué puede hacer',
    about: 'Elija una persona para ver qué puede hacer aquí y qué páginas de esta consola ve.',
    readOnly:
      'Lo que esta persona puede hacer aquí ahora. Usted conserva su sesión: no se hace nada por ella.',
    who: 'Persona',
    show: 'Mostrar',
    openFromMember: 'En la página «Miembros», abra un miembro y elija «Qué puede hacer».',
    pages: 'Páginas que ve aquí',
    hiddenPages: 'Páginas que no ve',
    lacks: 'le falta',
    permissions: 'Permisos',
    count: { one: '# permiso', other: '# permisos' },
    resource: 'Recurso',
    actions: 'Acciones',
    conditional: 'con una condición',
    nothing: 'Esta persona no puede hacer nada aquí.',
    nothingHint: 'Está desactivada o no tiene aquí ningún rol que dé un permiso.',
  },
  fr: {
    title: 'Ce qu’elle peut faire',
    about:
      'Choisissez une personne pour voir ce qu’elle peut faire ici et quelles pages de cette console elle voit.',
    readOnly:
      'Ce que cette personne peut faire ici maintenant. Vous gardez votre session : rien n’est fait en son nom.',
    who: 'Personne',
    show: 'Afficher',
    openFromMember: 'Sur la page « Membres », ouvrez un membre et choisissez « Ce qu’elle peut faire ».',
    pages: 'Pages qu’elle voit ici',
    hiddenPages: 'Pages qu’elle ne voit pas',
    lacks: 'il manque',
    permissions: 'Permissions',
    count: { one: '# permission', other: '# permissions' },
    resource: 'Ressource',
    actions: 'Actions',
    conditional: 'sous une condition',
    nothing: 'Cette personne ne peut rien faire ici.',
    nothingHint: 'Elle est désactivée ou n’a ici aucun rôle qui donne une permission.',
  },
};
