import { html, type Html } from '../../html/html.ts';

/** Makes the paragraph in which the script of a page shows how an action ended. The texts are data attributes. */
export const outcomeParagraph = (texts: Readonly<Record<string, string>>): Html =>
  html`<p
    id="outcome"
    role="status"
    ${Object.entries(texts).map(([name, text]) => html` data-${name}="${text}"`)}
  ></p>`;

/** The link that leads on from the page. The script shows it when nothing is left to do here. */
export const onward = (home: string, text: string): Html =>
  html`<p id="onward" hidden><a class="button" href="${home}">${text}</a></p>`;
