import { buildOpenapi, type DocumentSource } from '../openapi.ts';
import type { ExampleIds } from '../../kernel/example-ids.ts';

/**
 * The document as text, written when it is first asked for: most processes never are. It is written anew when its
 * examples are to name other rows.
 */
export class DocumentText {
  readonly #source: DocumentSource;
  #ids: ExampleIds | undefined;
  #text: string | undefined;

  constructor(source: DocumentSource) {
    this.#source = source;
  }

  readonly read = (): string =>
    (this.#text ??= JSON.stringify(buildOpenapi({ ...this.#source, exampleIds: this.#ids })));

  readonly showExamplesOf = (ids: ExampleIds): void => {
    this.#ids = ids;
    this.#text = undefined;
  };
}
