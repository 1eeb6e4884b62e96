const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChromium\//, 'Chromium'],
  [/\b(?:Headless)?Chrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** Returns a short name such as `Firefox, Windows`. The user agent of an unknown browser stays as it is. */
export function deviceName(userAgent: string): string {
  const find = (names: typeof browsers): string | undefined =>
    names.find(([form]) => form.test(userAgent))?.[1];
  const browser = find(browsers);
  const system = find(systems);
  if (!browser) return userAgent.length > 80 ? `${userAgent.slice(0, 80)}…` : userAgent;
  return system ? `${browser}, ${system}` : browser;
}
