import { composeMail, withoutLinks } from '../../../events/mail/mail-layout.ts';
import type { Mail } from '../../../kernel/ports.ts';
import type { CodePurpose } from '../../../domain/sign-in-flow/flow-data.ts';
import { codeMailTexts } from './code-mail-texts.ts';

type Language = 'en' | 'de' | 'es' | 'fr';

/** An app name in a mail is cut to so many characters: enough to recognize the app, too few to carry a message. */
const MAX_NAME = 60;

function nameInMail(name: string): string {
  const characters = [...name];
  const short = characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME - 1).join('')}…` : name;
  return withoutLinks(short);
}

/** The mail with a code and a link. The app's makers choose its name, so it must not become a link. */
export function codeMail(
  appUrl: string,
  { name }: { readonly name: string },
  mail: {
    readonly to: string;
    readonly language: Language;
    readonly token: string;
    readonly code: string;
    readonly purpose: CodePurpose['name'];
    /** The name of the provider whose account the code connects; else ''. */
    readonly provider: string;
  },
): Mail {
  const { purposes, code, small } = codeMailTexts[mail.language];
  const { subject, line, button, ignore } = purposes[mail.purpose];
  const named = (text: string) =>
    text
      .replaceAll('{app}', () => nameInMail(name))
      .replaceAll('{provider}', () => nameInMail(mail.provider));
  return composeMail({
    to: mail.to,
    language: mail.language,
    subject: named(subject),
    paragraphs: [named(line), code],
    code: `${mail.code.slice(0, 3)} ${mail.code.slice(3)}`,
    action: { label: named(button), url: `${appUrl}/api/auth/project/email?token=${mail.token}` },
    footnotes: [small, named(ignore)],
  });
}
