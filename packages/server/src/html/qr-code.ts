import { encode } from 'uqr';

/** The capacity of the largest version at correction level M. */
const MAX_BYTES = 2331;

/** Light modules around a code, without which readers do not find it. */
const BORDER = 4;

/** The dark modules as the path of a picture, and the length of its sides; null if the text is too long. */
export function qrPath(text: string): { readonly size: number; readonly path: string } | null {
  const bytes = [...new TextEncoder().encode(text)];
  if (bytes.length > MAX_BYTES) return null;
  const { data, size } = encode(bytes, { ecc: 'M', border: BORDER });
  const path = data
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
    .join('');
  return { size, path };
}
