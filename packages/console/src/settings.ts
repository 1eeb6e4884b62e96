/**
 * Settings that the console stores in the browser: language and theme, hidden columns, the last scope, and a running
 * impersonation. Never a token.
 */
type Setting = 'language' | 'theme' | 'scope' | 'impersonation' | `columns.${string}`;

const nameOf = (setting: Setting): string => `doorward.console.${setting}`;

/** Reads a setting. If the browser forbids storage, the console works without stored settings. */
export function readSetting(setting: Setting): string | null {
  try {
    return localStorage.getItem(nameOf(setting));
  } catch {
    return null;
  }
}

export function writeSetting(setting: Setting, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(nameOf(setting));
    else localStorage.setItem(nameOf(setting), value);
  } catch {
    // The browser forbids storage, as in `readSetting`.
  }
}
