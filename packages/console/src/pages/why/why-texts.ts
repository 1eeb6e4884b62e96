import type { components } from '@doorward/node/client';
import type { Texts } from '../../i18n/language.ts';

export interface WhyTexts {
  readonly title: string;
  readonly about: string;
  readonly who: string;
  readonly whoHint: string;
  readonly me: (name: string) => string;
  readonly resource: string;
  readonly resourceHint: string;
  readonly action: string;
  readonly context: string;
  readonly contextHint: string;
  readonly noObject: string;
  readonly ask: string;
  readonly start: string;
  readonly yes: string;
  readonly no: string;
  readonly iMay: string;
  readonly iMayNot: string;
  readonly may: (name: string) => string;
  readonly mayNot: (name: string) => string;
  readonly reasons: Readonly<Record<components['schemas']['DecisionReason'], string>>;
  readonly noResource: (name: string) => string;
  readonly noAction: (name: string) => string;
  readonly askInstead: string;
  readonly roles: string;
  readonly noRoles: string;
  readonly paths: string;
  readonly pathsHint: string;
  readonly role: string;
  readonly group: string;
  readonly permission: string;
  readonly results: Readonly<Record<'unconditional' | 'met' | 'notMet', string>>;
  readonly decided: string;
  readonly actual: string;
  readonly missing: string;
  readonly not: string;
  readonly nearest: string;
  readonly nearestHint: string;
  readonly assignRole: string;
  readonly addPermission: string;
  readonly toGroup: string;
  readonly setAttribute: string;
  readonly to: string;
  readonly ofProduct: string;
  readonly openUser: string;
  readonly giveRole: string;
  readonly notYourself: string;
  readonly openGroup: string;
  readonly openRole: string;
  readonly shared: string;
}

export const whyTexts: Texts<WhyTexts> = {
  en: {
    title: 'Why?',
    about: 'Ask whether somebody may do something here, and see how the answer is reached.',
    who: 'Who',
    whoHint: 'An API key without a role of its own may do what its user may do.',
    me: (name) => `${name} (you)`,
    resource: 'Resource',
    resourceHint: 'What it is about, such as invoice or Role.',
    action: 'Action',
    context: 'Attributes of the resource (optional)',
    contextHint:
      'As JSON, such as {"ownerId": "…", "amount": 100}: what the conditions of permissions compare. The link to this page does not contain it.',
    noObject: 'This needs to be a JSON object in braces.',
    ask: 'Ask',
    start: 'Choose who and what, then ask.',
    yes: 'Yes.',
    no: 'No.',
    iMay: 'You may do this:',
    iMayNot: 'You may not do this:',
    may: (name) => `${name} may do this:`,
    mayNot: (name) => `${name} may not do this:`,
    reasons: {
      INVALID_SCOPE: 'This place does not exist, or it is not open to you.',
      SUBJECT_INACTIVE: 'They may not act here: they are disabled, or do not belong to this place.',
      SCOPE_NOT_CONSENTED: 'The app was not allowed to do this.',
      NO_PERMISSION: 'They have no role here that gives a permission for this.',
      ALLOWED: 'A permission allows it, without a condition.',
      ALLOWED_BY_CONDITION: 'A permission allows it, and its condition is true.',
      CONDITION_NOT_MET: 'There are permissions for this, but none of their conditions is true.',
    },
    noResource: (name) => `There is no resource “${name}” here.`,
    noAction: (name) => `This resource has no action “${name}”.`,
    askInstead: 'Ask instead:',
    roles: 'Roles here',
    noRoles: 'They have no role here.',
    paths: 'Where the permission comes from',
    pathsHint: 'Each way from a role through a group to a permission for this. One that holds is enough.',
    role: 'Role',
    group: 'Group',
    permission: 'Permission',
    results: {
      unconditional: 'allows, always',
      met: 'allows: the condition is true',
      notMet: 'does not allow: the condition is not true',
    },
    decided: 'This decided:',
    actual: 'it is',
    missing: 'it is missing',
    not: 'not:',
    nearest: 'What would allow it',
    nearestHint:
      'Each of these changes alone would be enough. The links lead to the page where you make it. You see who gains what first, and nothing changes until you save.',
    assignRole: 'Give them the role',
    addPermission: 'Add the permission',
    toGroup: 'to the group',
    setAttribute: 'Set',
    to: 'to',
    ofProduct: 'Your product keeps this value, with the resource.',
    openUser: 'Open the user',
    giveRole: 'Give this role',
    notYourself: 'You cannot change your own roles: ask another administrator.',
    openGroup: 'Open the group',
    openRole: 'Open the role',
    shared: 'Others who have it are affected too.',
  },
  de: {
    title: 'Warum?',
    about: 'Fragen Sie, ob jemand hier etwas darf, und sehen Sie, wie die Antwort zustande kommt.',
    who: 'Wer',
    whoHint: 'Ein API-Schlüssel ohne eigene Rolle darf, was seine Person darf.',
    me: (name) => `${name} (Sie)`,
    resource: 'Ressource',
    resourceHint: 'Worum es geht, etwa invoice oder Role.',
    action: 'Aktion',
    context: 'Merkmale der Sache selbst (freiwillig)',
    contextHint:
      'Als JSON, etwa {"ownerId": "…", "amount": 100}: womit die Bedingungen der Berechtigungen vergleichen. Der Link auf diese Seite enthält es nicht.',
    noObject: 'Das muss ein JSON-Objekt in geschweiften Klammern sein.',
    ask: 'Fragen',
    start: 'Wählen Sie, wer und was, und fragen Sie dann.',
    yes: 'Ja.',
    no: 'Nein.',
    iMay: 'Sie dürfen das:',
    iMayNot: 'Sie dürfen das nicht:',
    may: (name) => `${name} darf das:`,
    mayNot: (name) => `${name} darf das nicht:`,
    reasons: {
      INVALID_SCOPE: 'Diesen Ort gibt es nicht, oder er steht Ihnen nicht offen.',
      SUBJECT_INACTIVE: 'Die Person darf hier nicht handeln: Sie ist gesperrt oder gehört nicht hierher.',
      SCOPE_NOT_CONSENTED: 'Der App wurde das nicht erlaubt.',
      NO_PERMISSION: 'Sie haben hier keine Rolle, die eine Berechtigung dafür gibt.',
      ALLOWED: 'Eine Berechtigung erlaubt es ohne Bedingung.',
      ALLOWED_BY_CONDITION: 'Eine Berechtigung erlaubt es, und ihre Bedingung ist wahr.',
      CONDITION_NOT_MET: 'Es gibt Berechtigungen dafür, aber keine ihrer Bedingungen ist wahr.',
    },
    noResource: (name) => `Hier gibt es keine Ressource „${name}“.`,
    noAction: (name) => `Diese Ressource hat keine Aktion „${name}“.`,
    askInstead: 'Stattdessen fragen:',
    roles: 'Rollen hier',
    noRoles: 'Sie haben hier keine Rolle.',
    paths: 'Wie die Berechtigung zustande kommt',
    pathsHint:
      'Jeder Weg von einer Rolle über eine Gruppe zu einer Berechtigung dafür. Einer, der gilt, genügt.',
    role: 'Rolle',
    group: 'Gruppe',
    permission: 'Berechtigung',
    results: {
      unconditional: 'erlaubt es immer',
      met: 'erlaubt es: Die Bedingung ist wahr',
      notMet: 'erlaubt es nicht: Die Bedingung ist nicht wahr',
    },
    decided: 'Das gab den Ausschlag:',
    actual: 'es ist',
    missing: 'nichts davon ist bekannt',
    not: 'nicht:',
    nearest: 'Was es erlauben würde',
    nearestHint:
      'Jede dieser Änderungen genügt für sich. Die Links führen dorthin, wo Sie sie vornehmen; Sie sehen erst, wer was erhält, und nichts ändert sich, bevor Sie speichern.',
    assignRole: 'Diese Rolle geben:',
    addPermission: 'Diese Berechtigung',
    toGroup: 'in diese Gruppe aufnehmen:',
    setAttribute: 'Den Wert von',
    to: 'setzen auf',
    ofProduct: 'Dieser Wert gehört zur Sache selbst, die Ihr Produkt verwaltet.',
    openUser: 'Person öffnen',
    giveRole: 'Diese Rolle geben',
    notYourself:
      'Die eigenen Rollen kann niemand ändern: Bitten Sie eine andere Person mit Verwaltungsrechten.',
    openGroup: 'Gruppe öffnen',
    openRole: 'Rolle öffnen',
    shared: 'Das betrifft auch andere, die sie haben.',
  },
  es: {
    title: '¿Por qué?',
    about: 'Pregunte si alguien puede hacer algo aquí y vea de dónde sale la respuesta.',
    who: 'Quién',
    whoHint: 'Una clave de API sin rol propio puede lo que puede su usuario.',
    me: (name) => `${name} (usted)`,
    resource: 'Recurso',
    resourceHint: 'De qué se trata, como invoice o Role.',
    action: 'Acción',
    context: 'Atributos de la cosa misma (opcional)',
    contextHint:
      'En JSON, como {"ownerId": "…", "amount": 100}: lo que comparan las condiciones de los permisos. El enlace a esta página no lo contiene.',
    noObject: 'Debe ser un objeto JSON entre llaves.',
    ask: 'Preguntar',
    start: 'Elija quién y qué, y después pregunte.',
    yes: 'Sí.',
    no: 'No.',
    iMay: 'Usted puede hacer esto:',
    iMayNot: 'Usted no puede hacer esto:',
    may: (name) => `${name} puede hacer esto:`,
    mayNot: (name) => `${name} no puede hacer esto:`,
    reasons: {
      INVALID_SCOPE: 'Este lugar no existe o no está abierto para usted.',
      SUBJECT_INACTIVE: 'No puede actuar aquí: está desactivado o no pertenece a este lugar.',
      SCOPE_NOT_CONSENTED: 'No se permitió esto a la aplicación.',
      NO_PERMISSION: 'No tienen aquí ningún rol que dé un permiso para esto.',
      ALLOWED: 'Un permiso lo autoriza sin condición.',
      ALLOWED_BY_CONDITION: 'Un permiso lo autoriza y su condición es verdadera.',
      CONDITION_NOT_MET: 'Hay permisos para esto, pero ninguna de sus condiciones es verdadera.',
    },
    noResource: (name) => `Aquí no hay ningún recurso «${name}».`,
    noAction: (name) => `Este recurso no tiene la acción «${name}».`,
    askInstead: 'Preguntar en su lugar:',
    roles: 'Roles aquí',
    noRoles: 'No tienen aquí ningún rol.',
    paths: 'De dónde viene el permiso',
    pathsHint: 'Cada camino de un rol por un grupo a un permiso para esto. Basta con uno que valga.',
    role: 'Rol',
    group: 'Grupo',
    permission: 'Permiso',
    results: {
      unconditional: 'autoriza siempre',
      met: 'autoriza: la condición es verdadera',
      notMet: 'no autoriza: la condición no es verdadera',
    },
    decided: 'Esto lo decidió:',
    actual: 'es',
    missing: 'no se sabe nada de él',
    not: 'no:',
    nearest: 'Qué lo permitiría',
    nearestHint:
      'Cada uno de estos cambios bastaría por sí solo. Los enlaces llevan a donde se hace; primero ve quién gana qué, y nada cambia antes de que guarde.',
    assignRole: 'Darle el rol',
    addPermission: 'Poner el permiso',
    toGroup: 'en el grupo',
    setAttribute: 'Poner',
    to: 'en',
    ofProduct: 'Este valor es de la cosa misma, que guarda su producto.',
    openUser: 'Abrir el usuario',
    giveRole: 'Dar este rol',
    notYourself: 'Nadie puede cambiar sus propios roles: pida ayuda a otro administrador.',
    openGroup: 'Abrir el grupo',
    openRole: 'Abrir el rol',
    shared: 'También afecta a los demás que lo tienen.',
  },
  fr: {
    title: 'Pourquoi ?',
    about: 'Demandez si quelqu’un peut faire une chose ici, et voyez d’où vient la réponse.',
    who: 'Qui',
    whoHint: 'Une clé d’API sans rôle propre peut ce que peut son utilisateur.',
    me: (name) => `${name} (vous)`,
    resource: 'Ressource',
    resourceHint: 'Ce dont il s’agit, comme invoice ou Role.',
    action: 'Action',
    context: 'Attributs de la chose elle-même (facultatif)',
    contextHint:
      'En JSON, comme {"ownerId": "…", "amount": 100} : ce que comparent les conditions des permissions. Le lien vers cette page ne le contient pas.',
    noObject: 'Il faut un objet JSON entre accolades.',
    ask: 'Demander',
    start: 'Choisissez qui et quoi, puis demandez.',
    yes: 'Oui.',
    no: 'Non.',
    iMay: 'Vous pouvez faire ceci :',
    iMayNot: 'Vous ne pouvez pas faire ceci :',
    may: (name) => `${name} peut faire ceci :`,
    mayNot: (name) => `${name} ne peut pas faire ceci :`,
    reasons: {
      INVALID_SCOPE: 'Ce lieu n’existe pas, ou il ne vous est pas ouvert.',
      SUBJECT_INACTIVE:
        'Cette personne ne peut pas agir ici : elle est désactivée ou n’appartient pas à ce lieu.',
      SCOPE_NOT_CONSENTED: 'Cela n’a pas été permis à l’application.',
      NO_PERMISSION: 'Ils n’ont ici aucun rôle qui donne une permission pour cela.',
      ALLOWED: 'Une permission l’autorise, sans condition.',
      ALLOWED_BY_CONDITION: 'Une permission l’autorise, et sa condition est vraie.',
      CONDITION_NOT_MET: 'Il y a des permissions pour cela, mais aucune de leurs conditions n’est vraie.',
    },
    noResource: (name) => `Il n’y a pas de ressource « ${name} » ici.`,
    noAction: (name) => `Cette ressource n’a pas d’action « ${name} ».`,
    askInstead: 'Demander plutôt :',
    roles: 'Rôles ici',
    noRoles: 'Ils n’ont aucun rôle ici.',
    paths: 'D’où vient la permission',
    pathsHint: 'Chaque chemin d’un rôle par un groupe à une permission pour cela. Un seul qui vaut suffit.',
    role: 'Rôle',
    group: 'Groupe',
    permission: 'Permission',
    results: {
      unconditional: 'autorise toujours',
      met: 'autorise : la condition est vraie',
      notMet: 'n’autorise pas : la condition n’est pas vraie',
    },
    decided: 'Ceci a décidé :',
    actual: 'c’est',
    missing: 'rien n’en est connu',
    not: 'non :',
    nearest: 'Ce qui le permettrait',
    nearestHint:
      'Chacun de ces changements suffirait seul. Les liens mènent là où on le fait ; vous voyez d’abord qui gagne quoi, et rien ne change avant l’enregistrement.',
    assignRole: 'Lui donner le rôle',
    addPermission: 'Mettre la permission',
    toGroup: 'dans le groupe',
    setAttribute: 'Mettre',
    to: 'à',
    ofProduct: 'Cette valeur est celle de la chose elle-même, que garde votre produit.',
    openUser: 'Ouvrir l’utilisateur',
    giveRole: 'Donner ce rôle',
    notYourself: 'Personne ne peut changer ses propres rôles : demandez à un autre administrateur.',
    openGroup: 'Ouvrir le groupe',
    openRole: 'Ouvrir le rôle',
    shared: 'Cela concerne aussi les autres qui l’ont.',
  },
};
