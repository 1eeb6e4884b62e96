import type { Texts } from '../../i18n/language.ts';

interface Forms {
  readonly one: string;
  readonly other: string;
}

interface WhoCanTexts {
  readonly title: string;
  readonly about: string;
  readonly start: string;
  readonly heading: string;
  readonly people: Forms;
  readonly complete: (people: string) => string;
  readonly nobody: string;
  readonly running: (people: string) => string;
  readonly more: (people: string) => string;
  readonly stop: string;
  readonly goOn: string;
  readonly person: string;
  readonly how: string;
  readonly always: string;
  readonly byCondition: string;
  readonly permission: string;
  readonly why: string;
}

export const whoCanTexts: Texts<WhoCanTexts> = {
  en: {
    title: 'Who can?',
    about: 'Ask which people may do something here now. API keys are not listed. Asking changes nothing.',
    start: 'Choose a resource and an action, then ask.',
    heading: 'Who may do this:',
    people: { one: '# person', other: '# people' },
    complete: (people) => `Complete: ${people}.`,
    nobody: 'Nobody may do this. The list is complete.',
    running: (people) => `Not complete yet: ${people} so far. The service goes on looking.`,
    more: (people) => `Not complete: ${people} so far. Others may follow.`,
    stop: 'Stop',
    goOn: 'Go on',
    person: 'Person',
    how: 'How',
    always: 'always',
    byCondition: 'because a condition is met',
    permission: 'Permission',
    why: 'Why?',
  },
  de: {
    title: 'Wer darf?',
    about:
      'Fragen Sie, welche Personen hier jetzt etwas dürfen. API-Schlüssel sind nicht dabei. Fragen ändert nichts.',
    start: 'Wählen Sie eine Ressource und eine Aktion, und fragen Sie dann.',
    heading: 'Wer das darf:',
    people: { one: '# Person', other: '# Personen' },
    complete: (people) => `Vollständig: ${people}.`,
    nobody: 'Niemand darf das. Die Liste ist vollständig.',
    running: (people) => `Noch nicht vollständig: bisher ${people}. Der Dienst sucht weiter.`,
    more: (people) => `Nicht vollständig: bisher ${people}. Weitere können folgen.`,
    stop: 'Anhalten',
    goOn: 'Weiter',
    person: 'Person',
    how: 'Wie',
    always: 'immer',
    byCondition: 'weil eine Bedingung erfüllt ist',
    permission: 'Berechtigung',
    why: 'Warum?',
  },
  es: {
    title: '¿Quién puede?',
    about:
      'Pregunte qué personas pueden hacer algo aquí ahora. Las claves de API no aparecen. Preguntar no cambia nada.',
    start: 'Elija un recurso y una acción, y luego pregunte.',
    heading: 'Quién puede hacerlo:',
    people: { one: '# persona', other: '# personas' },
    complete: (people) => `Completa: ${people}.`,
    nobody: 'Nadie puede hacerlo. La lista está completa.',
    running: (people) => `Aún no está completa: ${people} hasta ahora. El servicio sigue buscando.`,
    more: (people) => `No está completa: ${people} hasta ahora. Pueden seguir otras.`,
    stop: 'Detener',
    goOn: 'Seguir',
    person: 'Persona',
    how: 'Cómo',
    always: 'siempre',
    byCondition: 'porque se cumple una condición',
    permission: 'Permiso',
    why: '¿Por qué?',
  },
  fr: {
    title: 'Qui peut ?',
    about:
      'Demandez quelles personnes peuvent faire quelque chose ici maintenant. Les clés d’API n’y figurent pas. Demander ne change rien.',
    start: 'Choisissez une ressource et une action, puis demandez.',
    heading: 'Qui peut le faire :',
    people: { one: '# personne', other: '# personnes' },
    complete: (people) => `Complète : ${people}.`,
    nobody: 'Personne ne peut le faire. La liste est complète.',
    running: (people) => `Pas encore complète : ${people} jusqu’ici. Le service continue de chercher.`,
    more: (people) => `Incomplète : ${people} jusqu’ici. D’autres peuvent suivre.`,
    stop: 'Arrêter',
    goOn: 'Continuer',
    person: 'Personne',
    how: 'Comment',
    always: 'toujours',
    byCondition: 'parce qu’une condition est remplie',
    permission: 'Permission',
    why: 'Pourquoi ?',
  },
};
