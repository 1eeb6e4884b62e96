import { html, type Html } from '../../html/html.ts';
import type { AccountCaller, AccountCalls, Bare } from '../../http/account/account-calls.ts';
import type { Language } from '../../languages.ts';
import { hostedPage } from '../page.ts';
import { hiddenField } from '../sign-in/app-page.ts';
import { accountTexts, type Section } from './account-texts.ts';

/*
 * The building blocks of the account pages. A page shows the results of operations, and its forms call operations. A
 * page and its forms have the same address, so a hidden field names the form.
 */

export type Form = Readonly<Record<string, string>>;

/** A message about an invalid field. */
export interface Problem {
  readonly path: string;
  readonly text: string;
}

/** The input for rendering a page, besides the results of operations. */
export interface View {
  readonly language: Language;
  readonly caller: AccountCaller;
  /** The values in the form that was refused; empty if no form was. */
  readonly entered: Form;
  readonly problems: readonly Problem[];
  readonly passwordMinLength: number;
  readonly addresses: Pick<AccountCalls, 'signInAddress' | 'addressOf'>;
  /** The error code in the address of the page, after a sign-in at a provider failed. */
  readonly error?: string | undefined;
}

/** A refusal of a form for which the page itself provides the text. */
export class FieldProblem extends Error {
  readonly path: string;

  constructor(path: string, text: string) {
    super(text);
    this.path = path;
  }
}

/** The response to a form: its page with a note, another page, a page that is shown once, or a complete answer. */
export type Outcome =
  'saved' | { readonly redirectTo: string } | { readonly shown: Html } | { readonly bare: Bare };

export interface AccountPage {
  readonly section: Section;
  /** Renders the content of the page. Users who must first confirm their identity get the confirmation page instead. */
  readonly body: (view: View) => Promise<Html>;
  /** The handlers of its forms, by the name of the form. */
  readonly forms: Readonly<Record<string, (form: Form, view: View) => Promise<Outcome>>>;
  /** The maximum length of each field, for the error about a longer text. */
  readonly lengths?: Readonly<Record<string, number>>;
  readonly script?: string;
  /** The sources that `form-action` allows in the page's policy; absent: this service alone. */
  readonly formAction?: string;
}

export const pathOf = (section: Section): string =>
  section === 'profile' ? '/account' : `/account/${section}`;

/** A form of a page. `isQuiet`: its button is not the main button. */
export function accountForm(
  { caller }: Pick<View, 'caller'>,
  options: {
    readonly name: string;
    readonly section: Section;
    readonly button: string;
    readonly fields?: Html | readonly Html[];
    /** Tells buttons with the same text apart. */
    readonly label?: string;
    readonly isQuiet?: boolean;
    readonly hasFile?: true;
  },
): Html {
  const { name, section, button, fields, label, isQuiet = false, hasFile } = options;
  return html`<form
    method="post"
    action="${pathOf(section)}"
    ${hasFile && html`enctype="multipart/form-data"`}
  >
    ${hiddenField('form_token', caller.formToken)} ${hiddenField('form', name)} ${fields}
    <button class="${isQuiet ? 'plain' : ''}" ${label !== undefined && html`aria-label="${label}"`}>
      ${button}
    </button>
  </form>`;
}

/** The text about an invalid field of the refused form; undefined if the field is valid. */
export function problemOf({ problems, entered }: View, form: string, path: string): string | undefined {
  if (entered['form'] !== form) return undefined;
  const texts = problems.filter((problem) => problem.path === path).map(({ text }) => text);
  return texts.length > 0 ? texts.join(' ') : undefined;
}

/** The page of a section, with links to all sections. */
export function accountDocument(options: {
  readonly language: Language;
  readonly caller: AccountCaller;
  readonly section: Section;
  readonly title?: string;
  readonly note?: Html | undefined;
  readonly body: Html;
  readonly script?: string | undefined;
}): Html {
  const { language, caller, section, body, note, script } = options;
  const texts = accountTexts[language];
  const { sections } = texts;
  const links = (Object.keys(sections) as Section[]).map(
    (each) =>
      html`<li>
        <a href="${pathOf(each)}" ${each === section && html`aria-current="page"`}>${sections[each]}</a>
      </li>`,
  );
  const title = options.title ?? sections[section];
  return hostedPage({
    language,
    title,
    isWide: true,
    ...(script !== undefined && { script }),
    body: html`<nav aria-label="${texts.navigation}">
        <ul class="sections">
          ${links}
        </ul>
      </nav>
      <h1>${title}</h1>
      ${note} ${body}
      <form class="end" method="post" action="/account/sign-out">
        ${hiddenField('form_token', caller.formToken)}
        <button class="plain narrow">${texts.signOut}</button>
      </form>`,
  });
}

/** A time for people, in UTC, because the page does not know the user's time zone. */
export function shownTime(language: Language, iso: string): Html {
  const format = new Intl.DateTimeFormat(language, {
    ...{ year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' },
    ...{ timeZone: 'UTC', timeZoneName: 'short' },
  });
  return html`<time datetime="${iso}">${format.format(new Date(iso))}</time>`;
}

/** The JSON that a script put into a field; null for any other text, which the operation then refuses. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
