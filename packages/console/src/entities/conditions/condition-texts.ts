import type { Texts } from '../../i18n/language.ts';
import type { Clauses, Operator, ValueType } from './condition-model.ts';

interface ConditionTexts {
  readonly operators: Readonly<Record<Operator, string>>;
  readonly types: Readonly<Record<ValueType, string>>;
  readonly groups: Readonly<Record<Clauses['kind'], string>>;
  readonly truths: Readonly<Record<'true' | 'false' | 'unknown', string>>;
  /** The colon after a heading, which French writes with a space before it. */
  readonly colon: string;
  readonly always: string;
  readonly yes: string;
  readonly no: string;
  readonly nothing: string;
  readonly group: string;
  readonly attribute: string;
  readonly comparison: string;
  readonly valueType: string;
  readonly value: string;
  readonly listHint: string;
  readonly addComparison: string;
  readonly addGroup: string;
  readonly removeIt: string;
  readonly asJson: string;
  readonly asTree: string;
  readonly noTree: string;
  readonly noCondition: string;
  readonly examples: string;
  readonly exampleOwner: string;
  readonly exampleStatus: string;
  readonly pathProblem: string;
  readonly valueProblem: string;
  readonly emptyProblem: string;
  readonly partProblem: string;
}

export const conditionTexts: Texts<ConditionTexts> = {
  en: {
    operators: {
      Equals: 'is',
      NotEquals: 'is not',
      In: 'is one of',
      NotIn: 'is none of',
      Contains: 'is a list with',
      StartsWith: 'starts with',
      EndsWith: 'ends with',
      NumericEquals: 'is the number',
      NumericGreaterThan: 'is greater than',
      NumericGreaterThanEquals: 'is at least',
      NumericLessThan: 'is less than',
      NumericLessThanEquals: 'is at most',
      StringEquals: 'is the text',
      StringNotEquals: 'is a text other than',
      StringIn: 'is one of the texts',
      StringNotIn: 'is none of the texts',
    },
    types: {
      text: 'text',
      number: 'number',
      boolean: 'yes or no',
      null: 'nothing',
      attribute: 'attribute',
      list: 'list',
    },
    groups: { all: 'All of these', any: 'At least one of these', none: 'None of these' },
    truths: { true: 'true', false: 'false', unknown: 'unknown' },
    colon: ':',
    always: 'always',
    yes: 'yes',
    no: 'no',
    nothing: 'nothing',
    group: 'How the parts count',
    attribute: 'Attribute',
    comparison: 'Comparison',
    valueType: 'Kind of value',
    value: 'Value',
    listHint: 'One value on each line.',
    addComparison: 'Add comparison',
    addGroup: 'Add group',
    removeIt: 'Remove',
    asJson: 'Edit as JSON',
    asTree: 'Edit as comparisons',
    noTree: 'This JSON is not a condition that can be shown as comparisons.',
    noCondition: 'Without a comparison the permission always counts.',
    examples: 'Start with an example:',
    exampleOwner: 'only one’s own',
    exampleStatus: 'only in certain states',
    pathProblem:
      'The attribute needs the form resource.name, user.name, role.name, group.name or scope.name.',
    valueProblem: 'This value does not fit the comparison.',
    emptyProblem: 'Something is missing here.',
    partProblem: 'This part is not known.',
  },
  de: {
    operators: {
      Equals: 'ist',
      NotEquals: 'ist nicht',
      In: 'ist eines von',
      NotIn: 'ist keines von',
      Contains: 'ist eine Liste mit',
      StartsWith: 'beginnt mit',
      EndsWith: 'endet mit',
      NumericEquals: 'ist die Zahl',
      NumericGreaterThan: 'ist größer als',
      NumericGreaterThanEquals: 'ist mindestens',
      NumericLessThan: 'ist kleiner als',
      NumericLessThanEquals: 'ist höchstens',
      StringEquals: 'ist der Text',
      StringNotEquals: 'ist ein anderer Text als',
      StringIn: 'ist einer der Texte',
      StringNotIn: 'ist keiner der Texte',
    },
    types: {
      text: 'Text',
      number: 'Zahl',
      boolean: 'ja oder nein',
      null: 'nichts',
      attribute: 'Attribut',
      list: 'Liste',
    },
    groups: { all: 'Alle davon', any: 'Mindestens eines davon', none: 'Keines davon' },
    truths: { true: 'wahr', false: 'falsch', unknown: 'unbekannt' },
    colon: ':',
    always: 'immer',
    yes: 'ja',
    no: 'nein',
    nothing: 'nichts',
    group: 'Wie die Teile zählen',
    attribute: 'Attribut',
    comparison: 'Vergleich',
    valueType: 'Art des Werts',
    value: 'Wert',
    listHint: 'Ein Wert je Zeile.',
    addComparison: 'Vergleich hinzufügen',
    addGroup: 'Gruppe hinzufügen',
    removeIt: 'Entfernen',
    asJson: 'Als JSON bearbeiten',
    asTree: 'Als Vergleiche bearbeiten',
    noTree: 'Dieses JSON ist keine Bedingung, die sich als Vergleiche zeigen lässt.',
    noCondition: 'Ohne Vergleich gilt die Berechtigung immer.',
    examples: 'Mit einem Beispiel beginnen:',
    exampleOwner: 'nur das Eigene',
    exampleStatus: 'nur in bestimmten Zuständen',
    pathProblem:
      'Das Attribut braucht die Form resource.name, user.name, role.name, group.name oder scope.name.',
    valueProblem: 'Dieser Wert passt nicht zum Vergleich.',
    emptyProblem: 'Hier fehlt etwas.',
    partProblem: 'Diesen Teil gibt es nicht.',
  },
  es: {
    operators: {
      Equals: 'es',
      NotEquals: 'no es',
      In: 'es uno de',
      NotIn: 'no es ninguno de',
      Contains: 'es una lista con',
      StartsWith: 'empieza por',
      EndsWith: 'termina en',
      NumericEquals: 'es el número',
      NumericGreaterThan: 'es mayor que',
      NumericGreaterThanEquals: 'es al menos',
      NumericLessThan: 'es menor que',
      NumericLessThanEquals: 'es como máximo',
      StringEquals: 'es el texto',
      StringNotEquals: 'es un texto distinto de',
      StringIn: 'es uno de los textos',
      StringNotIn: 'no es ninguno de los textos',
    },
    types: {
      text: 'texto',
      number: 'número',
      boolean: 'sí o no',
      null: 'nada',
      attribute: 'atributo',
      list: 'lista',
    },
    groups: { all: 'Todas estas', any: 'Al menos una de estas', none: 'Ninguna de estas' },
    truths: { true: 'verdadero', false: 'falso', unknown: 'desconocido' },
    colon: ':',
    always: 'siempre',
    yes: 'sí',
    no: 'no',
    nothing: 'nada',
    group: 'Cómo cuentan las partes',
    attribute: 'Atributo',
    comparison: 'Comparación',
    valueType: 'Tipo de valor',
    value: 'Valor',
    listHint: 'Un valor por línea.',
    addComparison: 'Añadir comparación',
    addGroup: 'Añadir grupo',
    removeIt: 'Quitar',
    asJson: 'Editar como JSON',
    asTree: 'Editar como comparaciones',
    noTree: 'Este JSON no es una condición que se pueda mostrar como comparaciones.',
    noCondition: 'Sin comparaciones el permiso vale siempre.',
    examples: 'Empezar con un ejemplo:',
    exampleOwner: 'solo lo propio',
    exampleStatus: 'solo en ciertos estados',
    pathProblem:
      'El atributo necesita la forma resource.name, user.name, role.name, group.name o scope.name.',
    valueProblem: 'Este valor no se ajusta a la comparación.',
    emptyProblem: 'Aquí falta algo.',
    partProblem: 'Esta parte no existe.',
  },
  fr: {
    operators: {
      Equals: 'est',
      NotEquals: 'n’est pas',
      In: 'est l’un de',
      NotIn: 'n’est aucun de',
      Contains: 'est une liste avec',
      StartsWith: 'commence par',
      EndsWith: 'finit par',
      NumericEquals: 'est le nombre',
      NumericGreaterThan: 'est plus grand que',
      NumericGreaterThanEquals: 'est au moins',
      NumericLessThan: 'est plus petit que',
      NumericLessThanEquals: 'est au plus',
      StringEquals: 'est le texte',
      StringNotEquals: 'est un autre texte que',
      StringIn: 'est l’un des textes',
      StringNotIn: 'n’est aucun des textes',
    },
    types: {
      text: 'texte',
      number: 'nombre',
      boolean: 'oui ou non',
      null: 'rien',
      attribute: 'attribut',
      list: 'liste',
    },
    groups: { all: 'Toutes celles-ci', any: 'Au moins une de celles-ci', none: 'Aucune de celles-ci' },
    truths: { true: 'vrai', false: 'faux', unknown: 'inconnu' },
    colon: '\u00a0:',
    always: 'toujours',
    yes: 'oui',
    no: 'non',
    nothing: 'rien',
    group: 'Comment comptent les parties',
    attribute: 'Attribut',
    comparison: 'Comparaison',
    valueType: 'Type de valeur',
    value: 'Valeur',
    listHint: 'Une valeur par ligne.',
    addComparison: 'Ajouter une comparaison',
    addGroup: 'Ajouter un groupe',
    removeIt: 'Retirer',
    asJson: 'Modifier en JSON',
    asTree: 'Modifier en comparaisons',
    noTree: 'Ce JSON n’est pas une condition qui puisse être montrée en comparaisons.',
    noCondition: 'Sans comparaison, la permission vaut toujours.',
    examples: 'Commencer par un exemple :',
    exampleOwner: 'seulement ce qui est à soi',
    exampleStatus: 'seulement dans certains états',
    pathProblem:
      'L’attribut a besoin de la forme resource.name, user.name, role.name, group.name ou scope.name.',
    valueProblem: 'Cette valeur ne convient pas à la comparaison.',
    emptyProblem: 'Il manque quelque chose ici.',
    partProblem: 'Cette partie n’existe pas.',
  },
};
