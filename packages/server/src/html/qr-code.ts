import { encode } from 'uqr';

/** The capacity of the largest version at correction level M. */
const MAX_BYTES = 2331;

/** The width of the light border around a code; readers do not recognize a code without it. */
const BORDER = 4;

/**
 * Returns the dark modules as an SVG path, and the length of the sides of the picture; null if the text is too long.
 */
export function qrPath(text: string): { readonly size: number; readonly path: string } | null {
  const bytes = [...new TextEncoder().encode(text)];
  if (bytes.length > MAX_BYTES) return null;
  const { data, size } = encode(bytes, { ecc: 'M', border: BORDER });
  const path = data
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
    .join('');
  return { size, path };
}
