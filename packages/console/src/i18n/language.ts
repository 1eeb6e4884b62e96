import { useSyncExternalStore } from 'react';
import { readSetting, writeSetting } from '../settings.ts';

/** The language of the console: what the user chose, else the first of the browser that we have. */
export const languages = ['en', 'de', 'es', 'fr'] as const;
export type Language = (typeof languages)[number];
export const languageNames: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
};

/** The texts of a part of the console. A language or a key that is missing does not compile. */
export type Texts<T> = Readonly<Record<Language, T>>;

const isLanguage = (value: string | null | undefined): value is Language =>
  languages.some((language) => language === value);

function initial(): Language {
  const chosen = readSetting('language');
  if (isLanguage(chosen)) return chosen;
  return navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage) ?? 'en';
}

let current = initial();
const listeners = new Set<() => void>();
document.documentElement.lang = current;

export const language = (): Language => current;

export function setLanguage(next: Language): void {
  current = next;
  writeSetting('language', next);
  document.documentElement.lang = next;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useLanguage = (): Language => useSyncExternalStore(subscribe, language);

/** The texts in the current language. */
export const useTexts = <T>(texts: Texts<T>): T => texts[useLanguage()];
