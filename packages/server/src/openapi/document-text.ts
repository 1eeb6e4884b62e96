import { buildOpenapi, type DocumentSource } from './openapi.ts';
import type { ExampleIds } from '../kernel/output/example-ids.ts';

/**
 * The OpenAPI document as text. It is built on the first request for it, because most processes never get one, and
 * again if the ids in its examples change.
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

  readonly setExampleIds = (ids: ExampleIds): void => {
    this.#ids = ids;
    this.#text = undefined;
  };
}
