import { useSyncExternalStore } from 'react';
import { readSetting, writeSetting } from '../settings.ts';

/* The console's language: the one the user chose, otherwise the first supported one of the browser's languages. */

export const languages = ['en', 'de', 'es', 'fr'] as const;
export type Language = (typeof languages)[number];
export const languageNames: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
};

/** The texts of a part of the console in all languages. A missing language or key is a compile error. */
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

/** Returns the texts in the current language. */
export const useTexts = <T>(texts: Texts<T>): T => texts[useLanguage()];
