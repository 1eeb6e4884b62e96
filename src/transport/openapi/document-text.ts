import { buildOpenapi, type DocumentSource } from '../openapi.ts';
import type { ExampleIds } from './examples.ts';

/**
 * The document as text, written when it is first asked for: most processes never are. It is written anew when its
 * examples are to name other rows.
 */
export function documentText(
  source: Omit<DocumentSource, 'exampleIds'>,
  exampleIds: () => ExampleIds | undefined,
): () => string {
  let last: { readonly ids: ExampleIds | undefined; readonly text: string } | undefined;
  return () => {
    const ids = exampleIds();
    if (!last || last.ids !== ids) {
      last = { ids, text: JSON.stringify(buildOpenapi({ ...source, exampleIds: ids })) };
    }
    return last.text;
  };
}
