import { z } from 'zod';
import { fail, type DetailCode } from '../../errors.ts';

/**
 * Texts and the sender name of an app: what its makers add to the pages and mails that this service sends in their name
 * (docs/spec/sign-in-methods.md, "Branding"). Any address can be typed on a page of sign-in, and gets the mail. So a text
 * is plain, names no site, address or number, stands beside the sentences of the service, and replaces none.
 */
const purposes = ['signInPage', 'signInMail', 'verificationMail', 'resetMail'] as const;
export type AppTextPurpose = (typeof purposes)[number];

const Purpose = z.enum(purposes).meta({
  id: 'ProjectAppTextPurpose',
  description:
    'Where a text stands: on the first page of a sign-in, or in a mail with a code to sign in, to confirm an address, or to choose a new password.',
});
const Language = z
  .enum(['en', 'de', 'es', 'fr'])
  .meta({ id: 'ProjectAppTextLanguage', description: 'The language of the reader.' });

const MAX_SUBJECT = 100;
const MAX_TEXT = 500;
const MAX_LINES = 6;

const shape = (bounded: (max: number) => z.ZodString) => ({
  purpose: Purpose,
  language: Language,
  subject: bounded(MAX_SUBJECT)
    .nullable()
    .default(null)
    .meta({
      description: 'Subject of the mail, with `{app}`; null: that of the service, as always on the page.',
      examples: ['Welcome to {app}'],
    }),
  text: bounded(MAX_TEXT)
    .nullable()
    .default(null)
    .meta({
      description: 'Plain text before that of the service, six lines at most. `{app}`: the name of the app.',
      examples: ['Good to see you. We never ask for your code by phone.'],
    }),
});

const description = 'A text that an app adds to a page or mail, in one language.';
export const AppText = z.object(shape(() => z.string())).meta({ id: 'ProjectAppText', description });
export const AppTextInput = z
  .strictObject(shape((max) => z.string().trim().min(1).max(max)))
  .meta({ id: 'ProjectAppTextInput', description });

export type AppText = z.output<typeof AppText>;

/** The text of the app for this reader; undefined: it has none. */
export const appTextFor = (
  { texts }: { readonly texts: readonly AppText[] },
  purpose: AppTextPurpose,
  language: AppText['language'],
): AppText | undefined => texts.find((text) => text.purpose === purpose && text.language === language);

/** Control and format characters: unseen, or turning the direction of what follows. A line break is none. */
const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u;
/** What mail programs make a link of, in any script: an address, a scheme, a name with a dot. */
const linked =
  /[@\uFE6B\uFF20]|[:\uFE55\uFF1A]\s?[/\\\uFF0F\uFF3C]|[\p{L}\p{N}}-][.\u2024\u3002\uFE52\uFF0E\uFF61]\p{L}{2}/u;
/** Six digits with at most three signs other than letters, or the name of the app, between two of them: a phone number or a code. */
const numbered = /(?:\p{N}(?:\{app\}|[^\p{L}\p{N}]){0,3}){6}/u;
const placeholder = /\{app\}/g;

interface Rule {
  readonly isBroken: (text: string) => boolean;
  readonly code: DetailCode;
  readonly fix: string;
}

const ofAll: readonly Rule[] = [
  {
    isBroken: (text) => unseen.test(text),
    code: 'format',
    fix: 'Leave out control characters and characters that cannot be seen.',
  },
  {
    isBroken: (text) => linked.test(text),
    code: 'not_allowed',
    fix: 'Leave out web and mail addresses: the mail has one link, which the service writes.',
  },
  {
    isBroken: (text) => numbered.test(text),
    code: 'not_allowed',
    fix: 'Leave out phone numbers and codes: six digits or more in a row are not allowed.',
  },
];
const ofTexts: readonly Rule[] = [
  ...ofAll,
  {
    isBroken: (text) => /[{}]/.test(text.replaceAll(placeholder, '')),
    code: 'format',
    fix: 'The only placeholder is {app}; leave out other braces.',
  },
];
const ofBodies: readonly Rule[] = [
  ...ofTexts,
  {
    isBroken: (text) => text.split('\n').length > MAX_LINES,
    code: 'too_long',
    fix: `Write ${MAX_LINES} lines at most.`,
  },
];
const ofOneLine: Rule = { isBroken: (text) => text.includes('\n'), code: 'format', fix: 'Write one line.' };
const ofSubjects: readonly Rule[] = [
  ...ofTexts,
  ofOneLine,
  {
    isBroken: (text) => !text.includes('{app}'),
    code: 'required',
    fix: 'Name the app in the subject, as {app}: readers see it before they open the mail.',
  },
];
const ofNames: readonly Rule[] = [
  ...ofAll,
  ofOneLine,
  {
    isBroken: (text) => /["<>(),;:\\[\]{}]/.test(text),
    code: 'format',
    fix: 'Leave out quotes, brackets, commas, colons and semicolons.',
  },
];

function assertRules(path: string, text: string | null | undefined, rules: readonly Rule[]): void {
  if (text === null || text === undefined) return;
  const broken = rules.find(({ isBroken }) => isBroken(text));
  if (broken) throw fail('VALIDATION_ERROR', { details: [{ path, code: broken.code }], fix: broken.fix });
}

/** @throws VALIDATION_ERROR */
export function assertAppTexts(
  { mail }: { readonly mail: { readonly appTexts: boolean } },
  {
    senderName,
    texts = [],
  }: {
    readonly senderName?: string | null | undefined;
    readonly texts?: readonly AppText[] | undefined;
  },
): void {
  const refuse = (path: string, code: DetailCode, fix: string) =>
    fail('VALIDATION_ERROR', { details: [{ path, code }], fix });
  if (!mail.appTexts && (senderName || texts.length > 0)) {
    const fix = 'The operator has turned off texts of apps (MAIL_APP_TEXTS); leave them out.';
    throw refuse(senderName ? 'senderName' : 'texts', 'not_allowed', fix);
  }
  assertRules('senderName', senderName, ofNames);
  texts.forEach(({ purpose, language, subject, text }, index) => {
    const first = texts.findIndex((other) => other.purpose === purpose && other.language === language);
    if (first !== index)
      throw refuse(`texts.${index}`, 'duplicate', 'Send one text for a purpose and language.');
    if (purpose === 'signInPage' && subject !== null)
      throw refuse(`texts.${index}.subject`, 'excluded', 'Only a mail has a subject.');
    assertRules(`texts.${index}.subject`, subject, ofSubjects);
    assertRules(`texts.${index}.text`, text, ofBodies);
  });
}
