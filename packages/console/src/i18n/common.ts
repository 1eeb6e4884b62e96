import type { Texts } from './language.ts';

/** Texts that are used in several places of the console. */
export interface Common {
  readonly close: string;
  readonly cancel: string;
  readonly save: string;
  readonly create: string;
  readonly edit: string;
  readonly remove: string;
  readonly copy: string;
  readonly copied: string;
  readonly notCopied: string;
  readonly copyId: string;
  readonly copyRequestId: string;
  readonly retry: string;
  readonly loading: string;
  readonly loadMore: string;
  readonly search: string;
  readonly clearFilters: string;
  readonly noMatch: string;
  readonly unreachable: string;
  readonly forbidden: string;
  readonly missingPermission: string;
  readonly notFound: string;
  readonly notFoundText: string;
  readonly yes: string;
  readonly no: string;
  readonly none: string;
  readonly saved: string;
  readonly done: string;
  readonly actions: string;
  readonly details: string;
  readonly discard: string;
  readonly discardQuestion: string;
  readonly stay: string;
  readonly builtIn: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** When the profile of a user changed. Roles and metadata belong to the scope, so their changes don't count. */
  readonly profileChangedAt: string;
  readonly name: string;
  readonly description: string;
  readonly metadata: string;
  readonly tags: string;
  readonly status: string;
  readonly email: string;
  readonly role: string;
  readonly nothingToChoose: string;
  readonly why: string;
  readonly results: string;
  readonly selectAll: string;
  readonly chosenColumns: string;
  readonly asCsv: string;
  readonly stop: string;
  readonly notApplicable: string;
  readonly selectRow: (name: string) => string;
  readonly selected: Readonly<Record<'one' | 'other', string>>;
  /** Says that a change that was already shown was refused by the service and undone. */
  readonly putBack: (message: string) => string;
  readonly more: (count: string) => string;
  readonly total: (count: string) => string;
  readonly sortBy: (column: string) => string;
}

export const common: Texts<Common> = {
  en: {
    close: 'Close',
    cancel: 'Cancel',
    save: 'Save',
    create: 'Create',
    edit: 'Edit',
    remove: 'Delete',
    copy: 'Copy',
    copied: 'Copied',
    notCopied: 'The browser does not copy here: select the text yourself.',
    copyId: 'Copy id',
    copyRequestId: 'Copy request id',
    retry: 'Try again',
    loading: 'Loading',
    loadMore: 'Show more',
    search: 'Search',
    clearFilters: 'Clear search',
    noMatch: 'Nothing matches.',
    unreachable: 'The service does not answer.',
    forbidden: 'You may not see this.',
    missingPermission: 'You lack the permission',
    notFound: 'Not found',
    notFoundText: 'It does not exist, or you may not see it.',
    yes: 'Yes',
    no: 'No',
    none: 'None',
    saved: 'Saved',
    done: 'Done',
    actions: 'Actions',
    details: 'Details',
    discard: 'Discard changes',
    discardQuestion: 'Your changes are not saved.',
    stay: 'Continue editing',
    builtIn: 'Built in',
    createdAt: 'Created',
    updatedAt: 'Changed',
    profileChangedAt: 'Profile changed',
    name: 'Name',
    description: 'Description',
    metadata: 'Metadata',
    tags: 'Tags',
    status: 'Status',
    email: 'E-mail address',
    role: 'Role',
    nothingToChoose: 'There is nothing to choose from yet.',
    why: 'Why?',
    results: 'Results',
    selectAll: 'Select all rows shown',
    chosenColumns: 'Columns',
    asCsv: 'Download these rows as CSV',
    stop: 'Stop',
    notApplicable: 'not possible for this row',
    selectRow: (name) => `Select ${name}`,
    selected: { one: '# row selected', other: '# rows selected' },
    putBack: (message) => `Not saved, and put back: ${message}`,
    more: (count) => `and ${count} more`,
    total: (count) => `${count} in total`,
    sortBy: (column) => `Sort by ${column}`,
  },
  de: {
    close: 'Schließen',
    cancel: 'Abbrechen',
    save: 'Speichern',
    create: 'Erstellen',
    edit: 'Bearbeiten',
    remove: 'Löschen',
    copy: 'Kopieren',
    copied: 'Kopiert',
    notCopied: 'Der Browser kopiert hier nicht: Markieren Sie den Text selbst.',
    copyId: 'ID kopieren',
    copyRequestId: 'Anfrage-ID kopieren',
    retry: 'Erneut versuchen',
    loading: 'Wird geladen',
    loadMore: 'Mehr anzeigen',
    search: 'Suchen',
    clearFilters: 'Suche leeren',
    noMatch: 'Nichts passt dazu.',
    unreachable: 'Der Dienst antwortet nicht.',
    forbidden: 'Sie dürfen das nicht sehen.',
    missingPermission: 'Ihnen fehlt die Berechtigung',
    notFound: 'Nicht gefunden',
    notFoundText: 'Das gibt es nicht, oder Sie dürfen es nicht sehen.',
    yes: 'Ja',
    no: 'Nein',
    none: 'Keine',
    saved: 'Gespeichert',
    done: 'Erledigt',
    actions: 'Aktionen',
    details: 'Details',
    discard: 'Änderungen verwerfen',
    discardQuestion: 'Ihre Änderungen sind nicht gespeichert.',
    stay: 'Weiter bearbeiten',
    builtIn: 'Eingebaut',
    createdAt: 'Erstellt',
    updatedAt: 'Geändert',
    profileChangedAt: 'Profil geändert',
    name: 'Name',
    description: 'Beschreibung',
    metadata: 'Metadaten',
    tags: 'Tags',
    status: 'Status',
    email: 'E-Mail-Adresse',
    role: 'Rolle',
    nothingToChoose: 'Es gibt noch nichts zur Auswahl.',
    why: 'Warum?',
    results: 'Ergebnisse',
    selectAll: 'Alle gezeigten Zeilen auswählen',
    chosenColumns: 'Spalten',
    asCsv: 'Diese Zeilen als CSV herunterladen',
    stop: 'Anhalten',
    notApplicable: 'bei dieser Zeile nicht möglich',
    selectRow: (name) => `${name} auswählen`,
    selected: { one: '# Zeile ausgewählt', other: '# Zeilen ausgewählt' },
    putBack: (message) => `Nicht gespeichert und zurückgesetzt: ${message}`,
    more: (count) => `und ${count} weitere`,
    total: (count) => `${count} insgesamt`,
    sortBy: (column) => `Nach ${column} sortieren`,
  },
  es: {
    close: 'Cerrar',
    cancel: 'Cancelar',
    save: 'Guardar',
    create: 'Crear',
    edit: 'Editar',
    remove: 'Eliminar',
    copy: 'Copiar',
    copied: 'Copiado',
    notCopied: 'El navegador no copia aquí: seleccione el texto usted mismo.',
    copyId: 'Copiar id',
    copyRequestId: 'Copiar id de la solicitud',
    retry: 'Reintentar',
    loading: 'Cargando',
    loadMore: 'Mostrar más',
    search: 'Buscar',
    clearFilters: 'Borrar la búsqueda',
    noMatch: 'No hay coincidencias.',
    unreachable: 'El servicio no responde.',
    forbidden: 'No puede ver esto.',
    missingPermission: 'Le falta el permiso',
    notFound: 'No encontrado',
    notFoundText: 'No existe, o no puede verlo.',
    yes: 'Sí',
    no: 'No',
    none: 'Ninguno',
    saved: 'Guardado',
    done: 'Hecho',
    actions: 'Acciones',
    details: 'Detalles',
    discard: 'Descartar los cambios',
    discardQuestion: 'Sus cambios no están guardados.',
    stay: 'Seguir editando',
    builtIn: 'Integrado',
    createdAt: 'Creado',
    updatedAt: 'Modificado',
    profileChangedAt: 'Perfil modificado',
    name: 'Nombre',
    description: 'Descripción',
    metadata: 'Metadatos',
    tags: 'Etiquetas',
    status: 'Estado',
    email: 'Correo electrónico',
    role: 'Rol',
    nothingToChoose: 'Aún no hay nada que elegir.',
    why: '¿Por qué?',
    results: 'Resultados',
    selectAll: 'Seleccionar todas las filas mostradas',
    chosenColumns: 'Columnas',
    asCsv: 'Descargar estas filas como CSV',
    stop: 'Detener',
    notApplicable: 'no es posible en esta fila',
    selectRow: (name) => `Seleccionar ${name}`,
    selected: { one: '# fila seleccionada', other: '# filas seleccionadas' },
    putBack: (message) => `No se guardó y se deshizo: ${message}`,
    more: (count) => `y ${count} más`,
    total: (count) => `${count} en total`,
    sortBy: (column) => `Ordenar por ${column}`,
  },
  fr: {
    close: 'Fermer',
    cancel: 'Annuler',
    save: 'Enregistrer',
    create: 'Créer',
    edit: 'Modifier',
    remove: 'Supprimer',
    copy: 'Copier',
    copied: 'Copié',
    notCopied: 'Le navigateur ne copie pas ici : sélectionnez le texte vous-même.',
    copyId: 'Copier l’id',
    copyRequestId: 'Copier l’id de la requête',
    retry: 'Réessayer',
    loading: 'Chargement',
    loadMore: 'Afficher plus',
    search: 'Rechercher',
    clearFilters: 'Effacer la recherche',
    noMatch: 'Aucun résultat.',
    unreachable: 'Le service ne répond pas.',
    forbidden: 'Vous ne pouvez pas voir ceci.',
    missingPermission: 'Il vous manque la permission',
    notFound: 'Introuvable',
    notFoundText: 'Cela n’existe pas, ou vous ne pouvez pas le voir.',
    yes: 'Oui',
    no: 'Non',
    none: 'Aucun',
    saved: 'Enregistré',
    done: 'Terminé',
    actions: 'Actions',
    details: 'Détails',
    discard: 'Abandonner les modifications',
    discardQuestion: 'Vos modifications ne sont pas enregistrées.',
    stay: 'Continuer',
    builtIn: 'Intégré',
    createdAt: 'Créé',
    updatedAt: 'Modifié',
    profileChangedAt: 'Profil modifié',
    name: 'Nom',
    description: 'Description',
    metadata: 'Métadonnées',
    tags: 'Étiquettes',
    status: 'État',
    email: 'Adresse e-mail',
    role: 'Rôle',
    nothingToChoose: 'Il n’y a encore rien à choisir.',
    why: 'Pourquoi ?',
    results: 'Résultats',
    selectAll: 'Sélectionner toutes les lignes affichées',
    chosenColumns: 'Colonnes',
    asCsv: 'Télécharger ces lignes en CSV',
    stop: 'Arrêter',
    notApplicable: 'impossible pour cette ligne',
    selectRow: (name) => `Sélectionner ${name}`,
    selected: { one: '# ligne sélectionnée', other: '# lignes sélectionnées' },
    putBack: (message) => `Non enregistré, et annulé : ${message}`,
    more: (count) => `et ${count} de plus`,
    total: (count) => `${count} au total`,
    sortBy: (column) => `Trier par ${column}`,
  },
};
