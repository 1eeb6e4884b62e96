import { composeMail, withoutLinks } from '../../events/mail/mail-layout.ts';
import type { Mail } from '../../kernel/ports.ts';
import { appTextFor } from '../../apps/branding/app-texts.ts';
import type { AppTextPurpose } from '../../schema/apps/app-text.ts';
import type { LiveApp } from '../../apps/access/app.ts';
import { isOwnPicture } from '../../apps/branding/logo.ts';
import type { Config } from '../../config/config.ts';
import type { CodePurpose } from '../flow/flow-data.ts';
import { codeMailTexts } from './code-mail-texts.ts';
import type { Language } from '../../languages.ts';

/** Names of apps are cut to this many characters in mails: enough to recognize the app, too few to carry a message. */
const MAX_NAME = 60;

const linesOf = (text: string | null | undefined): string[] =>
  (text ?? '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(withoutLinks);

function nameInMail(name: string): string {
  const characters = [...name];
  const short = characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME - 1).join('')}…` : name;
  return withoutLinks(short);
}

/**
 * The app's text for each purpose. The mail that connects an account has none, because its warning must stand alone to
 * protect the reader.
 */
const purposeOfText: Record<CodePurpose['name'], AppTextPurpose | null> = {
  signIn: 'signInMail',
  verification: 'verificationMail',
  reset: 'resetMail',
  connection: null,
};

/**
 * The mail with a code and a link, in the app's brand. The app's makers choose its name and texts, so no part of them
 * may become a link. The code, the link and the sentences about them are in every mail.
 */
export function codeMail(
  { appUrl, mail: { appTexts } }: Pick<Config, 'appUrl' | 'mail'>,
  app: Pick<LiveApp, 'name' | 'logoUrl' | 'primaryColor' | 'senderName' | 'texts'>,
  mail: {
    readonly to: string;
    readonly language: Language;
    readonly token: string;
    readonly code: string;
    readonly purpose: CodePurpose['name'];
    /** The name of the provider whose account the code connects; otherwise empty. */
    readonly provider: string;
  },
): Mail {
  const { purposes, code, small } = codeMailTexts[mail.language];
  const { subject, line, button, ignore } = purposes[mail.purpose];
  const { name, logoUrl, primaryColor, senderName } = app;
  const purpose = appTexts ? purposeOfText[mail.purpose] : null;
  const own = purpose === null ? undefined : appTextFor(app, purpose, mail.language);
  const named = (text: string) =>
    text
      .replaceAll('{app}', () => nameInMail(name))
      .replaceAll('{provider}', () => nameInMail(mail.provider));
  return composeMail({
    to: mail.to,
    language: mail.language,
    brand: {
      name: nameInMail(name),
      colour: primaryColor,
      logoUrl: isOwnPicture(appUrl, logoUrl) ? logoUrl : null,
      senderName: appTexts ? senderName : null,
    },
    subject: named(withoutLinks(own?.subject ?? subject)),
    paragraphs: [...linesOf(own?.text).map(named), named(line), code],
    code: `${mail.code.slice(0, 3)} ${mail.code.slice(3)}`,
    action: { label: named(button), url: `${appUrl}/api/auth/project/email?token=${mail.token}` },
    footnotes: [small, named(ignore)],
  });
}
