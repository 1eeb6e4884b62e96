import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';

/** The JSON that a tenant keeps about a row; nothing if it keeps none. */
export function Metadata({ of }: { readonly of: Readonly<Record<string, unknown>> }) {
  const t = useTexts(common).metadata;
  if (Object.keys(of).length === 0) return null;
  return (
    <section aria-label={t}>
      <h3>{t}</h3>
      {/* Long text makes it scroll, which the keyboard must reach. */}
      <pre tabIndex={0}>{JSON.stringify(of, null, 2)}</pre>
    </section>
  );
}
