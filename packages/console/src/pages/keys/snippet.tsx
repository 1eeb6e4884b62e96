import { CopyButton } from '../../ui/copy-button.tsx';

/** A text to copy, which scrolls in its own box by keyboard too. */
export function Snippet({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <>
      <div className="row">
        <h3>{label}</h3> <CopyButton text={text} />
      </div>
      <pre role="group" aria-label={label} tabIndex={0}>
        {text}
      </pre>
    </>
  );
}
