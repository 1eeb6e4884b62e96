import { z } from 'zod';
import { languages } from '../../languages.ts';

/*
 * Texts and the sender name that the makers of an app add to pages and mails of this service
 * (docs/spec/sign-in-methods.md, "Branding"). Anyone can have such a mail sent to any address, by typing it on a
 * sign-in page. So the texts are plain, contain no site, address or number, and never replace sentences of the service.
 */

const purposes = ['signInPage', 'signInMail', 'verificationMail', 'resetMail'] as const;
export type AppTextPurpose = (typeof purposes)[number];

const Purpose = z.enum(purposes).meta({
  id: 'ProjectAppTextPurpose',
  description:
    'Where a text stands: on the first page of a sign-in, or in a mail with a code to sign in, to confirm an address, or to choose a new password.',
});
const Language = z
  .enum(languages)
  .meta({ id: 'ProjectAppTextLanguage', description: 'The language of the reader.' });

const MAX_SUBJECT = 100;
const MAX_TEXT = 500;

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
