import type { FormField } from '../../entities/declarations/form-field.ts';
import type { Texts } from '../../i18n/language.ts';

/** Texts for the slugs of organizations and projects. */
export interface SlugTexts {
  readonly slug: string;
  readonly slugHint: string;
  readonly slugProblem: string;
  readonly typeSlug: (slug: string) => string;
  readonly otherSlug: string;
}

export const slugTexts: Texts<SlugTexts> = {
  en: {
    slug: 'Slug',
    slugHint:
      'A short name for addresses and files: small letters, digits and hyphens. Left empty, it comes from the name.',
    slugProblem: 'Use small letters, digits and single hyphens between them.',
    typeSlug: (slug) => `Type “${slug}” to confirm`,
    otherSlug: 'This is not the slug.',
  },
  de: {
    slug: 'Kurzname',
    slugHint:
      'Ein kurzer Name für Adressen und Dateien: Kleinbuchstaben, Ziffern und Bindestriche. Bleibt er leer, entsteht er aus dem Namen.',
    slugProblem: 'Verwenden Sie Kleinbuchstaben, Ziffern und einzelne Bindestriche dazwischen.',
    typeSlug: (slug) => `Geben Sie zur Bestätigung „${slug}“ ein`,
    otherSlug: 'Das ist nicht der Kurzname.',
  },
  es: {
    slug: 'Nombre corto',
    slugHint:
      'Un nombre corto para direcciones y archivos: minúsculas, cifras y guiones. Si queda vacío, se forma a partir del nombre.',
    slugProblem: 'Use minúsculas, cifras y guiones sueltos entre ellas.',
    typeSlug: (slug) => `Escriba «${slug}» para confirmar`,
    otherSlug: 'Este no es el nombre corto.',
  },
  fr: {
    slug: 'Nom court',
    slugHint:
      'Un nom court pour les adresses et les fichiers : minuscules, chiffres et traits d’union. Laissé vide, il vient du nom.',
    slugProblem: 'Utilisez des minuscules, des chiffres et des traits d’union isolés entre eux.',
    typeSlug: (slug) => `Saisissez « ${slug} » pour confirmer`,
    otherSlug: 'Ce n’est pas le nom court.',
  },
};

const form = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** A form field for the slug of a new or an existing row. For a new row it may stay empty. */
export const slugField = (t: SlugTexts, slug?: string): FormField => ({
  kind: 'text',
  name: 'slug',
  label: t.slug,
  ...(slug === undefined ? { hint: t.slugHint } : { isRequired: true }),
  initial: slug ?? '',
  check: (value) => (value === '' || (typeof value === 'string' && form.test(value)) ? null : t.slugProblem),
});

/** A form field in which the user types the slug again to confirm a deletion. */
export const typedSlugField = (t: SlugTexts, slug: string): FormField => ({
  kind: 'text',
  name: 'confirmation',
  label: t.typeSlug(slug),
  isRequired: true,
  initial: '',
  check: (value) => (value === slug ? null : t.otherSlug),
});

/** Leaves out an empty slug, so that the service derives one from the name. */
export const withoutEmptySlug = <I extends object>(input: I): I => {
  const { slug, ...rest } = input as I & { readonly slug?: unknown };
  return (slug === '' ? rest : input) as I;
};
