import type { Mail } from '../kernel/ports.ts';

/** The parts of a mail, as plain text; HTML and text are made of the same parts, so they cannot say different things. */
export interface MailParts {
  readonly to: string;
  readonly language: 'en' | 'de' | 'es' | 'fr';
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** What to do, and where. */
  readonly action?: { readonly label: string; readonly url: string };
  /** Small print below the action. */
  readonly footnotes?: readonly string[];
}

const maxLength = 255;

/** One line of a mail header: no control characters, so no second header, and no longer than 255 (events §6). */
export const headerText = (text: string): string =>
  [...text.replace(/\p{Cc}+/gu, ' ').trim()].slice(0, maxLength).join('');

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as HTML that means nothing but itself. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);

/**
 * A name that somebody chose. He must not get links of his own under our sender, and mail programs make one of anything
 * like `evil.example`, `evil。example` (a browser reads these dots alike), `http://2130706433` or `me@evil`; a space of no
 * width keeps them from it.
 */
export const withoutLinks = (name: string): string =>
  name.replace(/[.\u3002\uFF0E\uFF61@\uFF20](?=\S)|[:\uFF1A](?=[/\uFF0F\\])/gu, '$&\u200B');

/** `1 January 2030 at 12:00 UTC`, in the reader's language. */
export const timeInWords = (language: MailParts['language'], time: Date): string =>
  `${new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(time)} UTC`;

/** Text and HTML of one mail; whatever stands in the parts is escaped. */
export function composeMail({ to, language, subject, paragraphs, action, footnotes = [] }: MailParts): Mail {
  const html = escapeHtml;
  const text = [
    ...paragraphs,
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    ...(footnotes.length > 0 ? [footnotes.join('\n')] : []),
    '-- \nDoorward',
  ].join('\n\n');
  const paragraph = (style: string) => (line: string) =>
    `<p style="margin:0 0 16px;${style}">${html(line)}</p>`;
  return {
    to: headerText(to),
    subject: headerText(subject),
    text: `${text}\n`,
    html: `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${html(subject)}</title></head>
<body style="margin:0;padding:32px 16px;background:#f4f6f9;color:#1c2733;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif">
<div style="max-width:520px;margin:0 auto;padding:32px;background:#fff;border:1px solid #dfe5ec;border-radius:10px">
<p style="margin:0 0 24px;font-weight:650;color:#1f3a5f">Doorward</p>
${paragraphs.map(paragraph('')).join('\n')}
${
  action
    ? `<p style="margin:24px 0"><a href="${html(action.url)}" style="display:inline-block;padding:12px 20px;border-radius:6px;background:#1f3a5f;color:#fff;text-decoration:none">${html(action.label)}</a></p>
<p style="margin:0 0 16px;font-size:13px;color:#5b6b7c;word-break:break-all">${html(action.url)}</p>`
    : ''
}
${footnotes.map(paragraph('font-size:13px;color:#5b6b7c')).join('\n')}
</div>
</body>
</html>
`,
  };
}
