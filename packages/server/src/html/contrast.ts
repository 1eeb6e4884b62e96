/** Returns the relative luminance (WCAG 2.2) of a colour `#rrggbb`. */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast ratio of two colours: from 1 for equal colours to 21 for black on white. */
export function contrast(first: string, second: string): number {
  const [dark, light] = [luminance(first), luminance(second)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Returns the ink for a ground. The higher of the two ratios is never below 4.58, the square root of 21. */
export const inkOn = (ground: string): '#000000' | '#ffffff' =>
  contrast(ground, '#000000') > contrast(ground, '#ffffff') ? '#000000' : '#ffffff';
