import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';

/** Lists labeled facts about a row or scope. Facts without a value are left out. */
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

/** Shows a text with a copy button, because it is needed exactly, such as an id. */
export function Exact({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <>
      <code>{text}</code> <CopyButton text={text} {...(label === undefined ? {} : { label })} />
    </>
  );
}
