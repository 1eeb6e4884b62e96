import type { Texts } from '../../i18n/language.ts';

interface FormTexts {
  readonly required: string;
  readonly builtIn: (count: string) => string;
  readonly rowLimit: (count: string) => string;
  readonly preview: string;
  /** Says that the preview comes first and changes nothing. `act` is the label of the button that makes the change. */
  readonly stepOne: (act: string) => string;
  readonly stepTwo: (act: string) => string;
  readonly impact: string;
  readonly nobody: string;
  readonly truncated: string;
  readonly gains: string;
  readonly loses: string;
  readonly changes: string;
  readonly user: string;
  readonly key: string;
  readonly newUser: string;
  readonly newKey: string;
  readonly conditional: string;
  readonly noJson: string;
}

export const formTexts: Texts<FormTexts> = {
  en: {
    required: 'This is needed.',
    builtIn: (count) => `Built-in ones (${count})`,
    rowLimit: (count) => `Up to ${count} are listed. Search to find others.`,
    preview: 'Show what changes',
    stepOne: (act) => `Step 1 of 2: see who gains and loses what. “${act}” comes after it.`,
    stepTwo: (act) => `Step 2 of 2: nothing has changed yet. “${act}” does what stands above.`,
    impact: 'What this changes',
    nobody: 'Nobody gains or loses a permission.',
    truncated: 'More are affected than could be compared; the list is not complete.',
    gains: 'gains',
    loses: 'loses',
    changes: 'keeps under another condition',
    user: 'User',
    key: 'API key',
    newUser: 'The new user',
    newKey: 'The new API key',
    conditional: 'under a condition',
    noJson: 'Not valid JSON.',
  },
  de: {
    required: 'Das wird benötigt.',
    builtIn: (count) => `Eingebaute (${count})`,
    rowLimit: (count) => `Es werden höchstens ${count} angezeigt. Weitere finden Sie über die Suche.`,
    preview: 'Zeigen, was sich ändert',
    stepOne: (act) => `Schritt 1 von 2: sehen, wer was erhält und verliert. Danach kommt „${act}“.`,
    stepTwo: (act) => `Schritt 2 von 2: Noch hat sich nichts geändert. „${act}“ tut, was darüber steht.`,
    impact: 'Was sich dadurch ändert',
    nobody: 'Niemand gewinnt oder verliert eine Berechtigung.',
    truncated: 'Mehr sind betroffen, als verglichen werden konnten; die Liste ist nicht vollständig.',
    gains: 'erhält',
    loses: 'verliert',
    changes: 'behält unter anderer Bedingung',
    user: 'Person',
    key: 'API-Schlüssel',
    newUser: 'Die neue Person',
    newKey: 'Der neue API-Schlüssel',
    conditional: 'unter einer Bedingung',
    noJson: 'Das ist kein JSON.',
  },
  es: {
    required: 'Esto es necesario.',
    builtIn: (count) => `Integrados (${count})`,
    rowLimit: (count) => `Se muestran ${count} como máximo. Use la búsqueda para encontrar otros.`,
    preview: 'Mostrar qué cambia',
    stepOne: (act) => `Paso 1 de 2: vea quién gana y pierde qué. Después viene «${act}».`,
    stepTwo: (act) => `Paso 2 de 2: aún no ha cambiado nada. «${act}» hace lo que aparece arriba.`,
    impact: 'Qué cambia',
    nobody: 'Nadie gana ni pierde un permiso.',
    truncated: 'Afecta a más de los que se pudieron comparar; la lista no está completa.',
    gains: 'gana',
    loses: 'pierde',
    changes: 'conserva con otra condición',
    user: 'Usuario',
    key: 'Clave de API',
    newUser: 'El nuevo usuario',
    newKey: 'La nueva clave de API',
    conditional: 'con una condición',
    noJson: 'Esto no es JSON.',
  },
  fr: {
    required: 'Ceci est nécessaire.',
    builtIn: (count) => `Intégrés (${count})`,
    rowLimit: (count) => `${count} au maximum sont affichés. Utilisez la recherche pour en trouver d’autres.`,
    preview: 'Montrer ce qui change',
    stepOne: (act) => `Étape 1 sur 2 : voyez qui gagne et perd quoi. « ${act} » vient ensuite.`,
    stepTwo: (act) => `Étape 2 sur 2 : rien n’a encore changé. « ${act} » fait ce qui figure au-dessus.`,
    impact: 'Ce que cela change',
    nobody: 'Personne ne gagne ni ne perd de permission.',
    truncated:
      'Plus de sujets sont concernés qu’il n’a été possible d’en comparer ; la liste n’est pas complète.',
    gains: 'gagne',
    loses: 'perd',
    changes: 'garde sous une autre condition',
    user: 'Utilisateur',
    key: 'Clé d’API',
    newUser: 'Le nouvel utilisateur',
    newKey: 'La nouvelle clé d’API',
    conditional: 'sous une condition',
    noJson: 'Ce n’est pas du JSON.',
  },
};
