import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';

/** What is known of a row or scope, by name. A fact without a value is left out. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [label: string, value: ReactNode])[];
}) {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false)
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A text that others need exactly, such as an id. */
export function Exact({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <>
      <code>{text}</code> <CopyButton text={text} {...(label === undefined ? {} : { label })} />
    </>
  );
}
