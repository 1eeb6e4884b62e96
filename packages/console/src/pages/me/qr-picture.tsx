import { qrCode } from './qr-code.ts';

const MARGIN = 4;

/** A text as a QR code, dark on light in every look, because readers expect it. */
export function QrPicture({ text, label }: { readonly text: string; readonly label: string }) {
  const rows = qrCode(text);
  if (!rows) return null;
  const size = rows.length + 2 * MARGIN;
  const path = rows
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x + MARGIN} ${y + MARGIN}h1v1h-1z` : [])))
    .join('');
  return (
    <svg
      className="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
