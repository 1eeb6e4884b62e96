import type { ReactNode } from 'react';

/**
 * A button that opens a menu below it. The menu closes on Escape, when focus leaves it, or when the user clicks
 * elsewhere.
 */
export function Menu({
  className,
  label,
  children,
}: {
  readonly className: string;
  readonly label: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <details
      className={className}
      // Takes focus when the user clicks text in the menu. Otherwise, the menu would close before the click completes.
      tabIndex={-1}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) currentTarget.open = false;
      }}
      onKeyDown={({ currentTarget, key }) => {
        if (key !== 'Escape') return;
        currentTarget.open = false;
        currentTarget.querySelector('summary')?.focus();
      }}
    >
      <summary>{label}</summary>
      {children}
    </details>
  );
}
