/** The languages of errors, pages and mails (conventions §11); the first is the fallback. */
export const languages = ['en', 'de', 'es', 'fr'] as const;
export type Language = (typeof languages)[number];
