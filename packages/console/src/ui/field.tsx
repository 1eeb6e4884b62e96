import { useId, type ReactNode } from 'react';

/** A label with its control, a hint, and the problem that the check found. */
export function Field({
  label,
  hint,
  problem,
  children,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly problem?: string | undefined;
  /** Gets the attributes that tie the control to its label and texts. */
  readonly children: (attributes: {
    readonly id: string;
    readonly 'aria-describedby'?: string;
    readonly 'aria-invalid'?: true;
  }) => ReactNode;
}) {
  const id = useId();
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(described ? { 'aria-describedby': described } : {}),
        ...(problem ? { 'aria-invalid': true as const } : {}),
      })}
      {hint && (
        <small id={`${id}-hint`} className="hint">
          {hint}
        </small>
      )}
      {problem && (
        <small id={`${id}-problem`} className="problem" role="alert">
          {problem}
        </small>
      )}
    </div>
  );
}
