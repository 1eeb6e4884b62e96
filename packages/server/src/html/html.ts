/** The values that a template accepts. */
export type Content = Html | string | number | false | null | undefined | readonly Content[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/**
 * Markup in which every value is escaped. Only the tag `html` can create it, so text cannot be passed by mistake to a
 * function that expects `Html`.
 */
export class Html {
  readonly #markup: string;

  private constructor(markup: string) {
    this.#markup = markup;
  }

  static template(this: void, strings: TemplateStringsArray, ...contents: readonly Content[]): Html {
    return new Html(strings.reduce((markup, string, index) => markup + render(contents[index - 1]) + string));
  }

  toString(): string {
    return this.#markup;
  }
}

/**
 * Builds markup: `html` is kept as it is, the items of an array are joined, `undefined`, `null` and `false` render
 * nothing, and every other value is escaped. A value is safe as text and inside a quoted attribute, but not in an
 * attribute without quotes, nor in a script or style element.
 *
 * @example html`<p class="${tone}">${name}</p>`
 */
export const html = Html.template;

function render(content: Content): string {
  if (content === undefined || content === null || content === false) return '';
  if (content instanceof Html) return content.toString();
  return Array.isArray(content) ? content.map(render).join('') : escape(String(content));
}
