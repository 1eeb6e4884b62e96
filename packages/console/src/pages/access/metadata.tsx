import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';

/** Shows the JSON that a tenant has stored with a row; nothing if it is empty. */
export function Metadata({ of }: { readonly of: Readonly<Record<string, unknown>> }) {
  const t = useTexts(common).metadata;
  if (Object.keys(of).length === 0) return null;
  return (
    <section aria-label={t}>
      <h3>{t}</h3>
      {/* Long text is scrollable, so it must be reachable by keyboard. */}
      <pre tabIndex={0}>{JSON.stringify(of, null, 2)}</pre>
    </section>
  );
}
