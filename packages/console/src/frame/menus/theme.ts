import { readSetting, writeSetting } from '../../settings.ts';

/** `system` follows the setting of the operating system. */
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const theme = (): Theme => themes.find((name) => name === readSetting('theme')) ?? 'system';

export function applyTheme(next: Theme = theme()): void {
  if (next === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = next;
}

export function setTheme(next: Theme): void {
  writeSetting('theme', next === 'system' ? null : next);
  applyTheme(next);
}
