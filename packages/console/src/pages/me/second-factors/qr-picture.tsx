import { qrPath } from '../../../../../server/src/html/qr-code.ts';

/** Shows a text as a QR code. It is dark on light in every theme, because scanners expect that. */
export function QrPicture({ text, label }: { readonly text: string; readonly label: string }) {
  const picture = qrPath(text);
  if (!picture) return null;
  const { size, path } = picture;
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
