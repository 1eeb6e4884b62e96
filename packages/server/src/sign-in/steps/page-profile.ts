import type { Config } from '../../config/config.ts';
import type { LiveApp } from '../../apps/access/app.ts';
import { isOwnPicture } from '../../apps/branding/logo.ts';
import type { Language } from '../../languages.ts';

/** The data about the app that the pages show. */
interface AppProfile {
  readonly name: string;
  readonly logoUrl: string | null;
  readonly homepageUrl: string | null;
  readonly primaryColor: string | null;
}

/** The data that our own pages show in addition. */
export interface PageProfile extends AppProfile {
  /** The path of an uploaded logo. */
  readonly logoPath: string | null;
  /** Texts by language, shown below the heading of the first page. */
  readonly intro: Readonly<Partial<Record<Language, string>>>;
}

/** A client that registered itself chose its own link, so no page of this service shows it. */
export const profileOf = ({ name, logoUrl, primaryColor, ...app }: LiveApp): AppProfile => ({
  name,
  logoUrl,
  homepageUrl: app.registrationHash === null ? app.homepageUrl : null,
  primaryColor,
});

export function pageProfileOf({ appUrl, mail }: Config, app: LiveApp): PageProfile {
  const { logoUrl, texts } = app;
  const shown = texts.filter(({ purpose, text }) => purpose === 'signInPage' && text !== null);
  return {
    ...profileOf(app),
    logoPath: isOwnPicture(appUrl, logoUrl) ? new URL(logoUrl).pathname : null,
    intro: mail.appTexts ? Object.fromEntries(shown.map(({ language, text }) => [language, text])) : {},
  };
}
