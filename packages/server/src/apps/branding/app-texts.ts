import { fail, type DetailCode } from '../../errors.ts';
import type { AppText, AppTextPurpose } from '../../schema/apps/app-text.ts';

const MAX_LINES = 6;

/** Returns the app's text for this purpose and language; undefined if it has none. */
export const appTextFor = (
  { texts }: { readonly texts: readonly AppText[] },
  purpose: AppTextPurpose,
  language: AppText['language'],
): AppText | undefined => texts.find((text) => text.purpose === purpose && text.language === language);

/** Control and format characters, which are invisible or change the direction of the text; `\n` is allowed. */
const unseen = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u;
/** Text that mail programs turn into a link, in any script: an address, a scheme, a name with a dot. */
const linked =
  /[@\uFE6B\uFF20]|[:\uFE55\uFF1A]\s?[/\\\uFF0F\uFF3C]|[\p{L}\p{N}}-][.\u2024\u3002\uFE52\uFF0E\uFF61]\p{L}{2}/u;
/**
 * A phone number or a code: six digits with at most three separators after each. A separator is any character other
 * than a letter or digit, or the placeholder `{app}`.
 */
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

/** Checks the sender name and texts of an app, and that the operator allows them. @throws VALIDATION_ERROR */
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
