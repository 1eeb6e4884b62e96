import { html, type Html } from './html.ts';

/**
 * Fills the placeholders of a sentence, such as `{app}`, with names. A placeholder in a name stays text. A name written
 * from right to left does not change the direction of the sentence around it.
 */
export function fillSentence(sentence: string, names: Readonly<Record<string, string>>): Html {
  // The pattern has a group, so every second item is the name of a placeholder.
  const parts = sentence.split(/\{(\w+)\}/);
  return html`${parts.map((part, index) => (index % 2 === 0 ? part : html`<bdi>${names[part]}</bdi>`))}`;
}
