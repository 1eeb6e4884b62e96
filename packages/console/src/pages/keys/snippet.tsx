import { CopyButton } from '../../ui/copy-button.tsx';

/** A text with a copy button. Its box can be scrolled by keyboard too. */
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
