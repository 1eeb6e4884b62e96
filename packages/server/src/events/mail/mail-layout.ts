import { mailColours } from '../../html/brand-colours.ts';
import { html } from '../../html/html.ts';
import type { Mail } from '../../kernel/ports.ts';
import type { Language } from '../../languages.ts';

/** The brand in whose style a mail is written. */
interface MailBrand {
  readonly name: string;
  /** `#rrggbb`; null for the color of the service. */
  readonly colour: string | null;
  /**
   * The URL of a picture that this service serves, so that no other site learns who reads the mail; null for no
   * picture.
   */
  readonly logoUrl: string | null;
  /** Null for the sender name of the service. */
  readonly senderName?: string | null;
  /** The name in the signature. Default: `name`. */
  readonly signature?: string;
}

const ownBrand: MailBrand = { name: 'Doorward', colour: null, logoUrl: null };

/**
 * The parts of a mail as plain text. The HTML version and the text version are both built from these parts, so the two
 * versions cannot differ.
 */
interface MailParts {
  readonly to: string;
  readonly language: Language;
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** A code to enter, shown below the paragraphs. */
  readonly code?: string;
  /** A button and the URL that it opens. */
  readonly action?: { readonly label: string; readonly url: string };
  /** Small print below the action. */
  readonly footnotes?: readonly string[];
  /** Default: the brand of the service. */
  readonly brand?: MailBrand;
}

const maxLength = 255;

/**
 * A value for a mail header: without control characters, so that it cannot start another header, and cut to 255
 * characters (events §6).
 */
export const headerText = (text: string): string =>
  [...text.replace(/\p{Cc}+/gu, ' ').trim()].slice(0, maxLength).join('');

/**
 * Returns the name so that mail programs find no link in it. Names are chosen by users, who must not be able to send
 * links under our sender address. Mail programs turn anything like `evil.example`, `evil。example` (browsers treat these
 * dots alike), `http://2130706433` or `me@evil` into links; a zero-width space prevents that.
 */
export const withoutLinks = (name: string): string =>
  name.replace(/[.\u3002\uFF0E\uFF61@\uFF20](?=\S)|[:\uFF1A](?=[/\uFF0F\\])/gu, '$&\u200B');

/** Formats a time in the reader's language; in English, `January 1, 2030 at 12:00 PM UTC`. */
export const formatTime = (language: Language, time: Date): string =>
  `${new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(time)} UTC`;

/** Composes the text and the HTML version of a mail. */
export function composeMail(parts: MailParts): Mail {
  const senderName = parts.brand?.senderName ?? null;
  return {
    to: headerText(parts.to),
    ...(senderName !== null && { senderName: headerText(senderName) }),
    subject: headerText(parts.subject),
    text: textOf(parts),
    html: htmlOf(parts),
  };
}

function textOf({ paragraphs, code, action, footnotes = [], brand = ownBrand }: MailParts): string {
  const blocks = [
    ...paragraphs,
    ...(code === undefined ? [] : [code]),
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    ...(footnotes.length > 0 ? [footnotes.join('\n')] : []),
    `-- \n${brand.signature ?? brand.name}`,
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** Styles are inline, because mail programs drop style elements. */
function htmlOf({
  language,
  subject,
  paragraphs,
  code,
  action,
  footnotes = [],
  brand = ownBrand,
}: MailParts): string {
  const { ground, ink, edge, title } = mailColours(brand.colour);
  const logo =
    brand.logoUrl !== null &&
    html`<img
      src="${brand.logoUrl}"
      alt=""
      height="32"
      style="height:32px;margin:0 12px 0 0;vertical-align:middle"
    />`;
  const button =
    action &&
    html`
      <p style="margin:24px 0">
        <a
          href="${action.url}"
          style="display:inline-block;padding:12px 20px;border:1px solid ${edge};border-radius:6px;background:${ground};color:${ink};text-decoration:none"
          >${action.label}</a
        >
      </p>
      <p style="margin:0 0 16px;font-size:13px;color:#5b6b7c;word-break:break-all">${action.url}</p>
    `;
  const document = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${subject}</title>
      </head>
      <body
        style="margin:0;padding:32px 16px;background:#f4f6f9;color:#1c2733;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif"
      >
        <div
          style="max-width:520px;margin:0 auto;padding:32px;background:#fff;border:1px solid #dfe5ec;border-radius:10px"
        >
          <p style="margin:0 0 24px;font-weight:650;color:${title}">${logo}${brand.name}</p>
          ${paragraphs.map((line) => html`<p style="margin:0 0 16px">${line}</p>`)}
          ${code !== undefined && html`<p style="margin:0 0 16px;font-size:28px;letter-spacing:4px">${code}</p>`}
          ${button}
          ${footnotes.map((line) => html`<p style="margin:0 0 16px;font-size:13px;color:#5b6b7c">${line}</p>`)}
        </div>
      </body>
    </html>`;
  return document.toString();
}
