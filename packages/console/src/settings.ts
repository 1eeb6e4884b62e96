/** What the browser keeps of the console: choices of the look, the last scope, and for whom an operator acts. Never a token. */
type Setting = 'language' | 'theme' | 'scope' | 'impersonation' | `columns.${string}`;

const nameOf = (setting: Setting): string => `doorward.console.${setting}`;

/** Storage may be forbidden; the console then works without memory. */
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
    // See readSetting.
  }
}
