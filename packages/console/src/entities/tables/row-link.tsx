import type { ReactNode } from 'react';
import { useRouter } from '@tanstack/react-router';

const base = import.meta.env.BASE_URL.replace(/\/$/, '');

/**
 * What a row leads to. Unlike a link of the router it listens to nothing: a list has thousands of them, and each would be
 * made again whenever the address changes.
 */
export function RowLink({
  path,
  keepsSearch,
  children,
}: {
  readonly path: string;
  /** Whether the list stays below, with its search and order. */
  readonly keepsSearch: boolean;
  readonly children: ReactNode;
}) {
  const router = useRouter();
  return (
    <a
      href={`${base}${path}`}
      onClick={(event) => {
        const { button, metaKey, ctrlKey, shiftKey, altKey } = event;
        // The browser opens another tab or window.
        if (button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return;
        event.preventDefault();
        void router.navigate({ to: path, search: keepsSearch ? true : {} });
      }}
    >
      {children}
    </a>
  );
}
