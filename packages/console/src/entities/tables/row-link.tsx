import type { ReactNode } from 'react';
import { useRouter } from '@tanstack/react-router';

const base = import.meta.env.BASE_URL.replace(/\/$/, '');

/**
 * The link of a row. Unlike a link of the router it doesn't listen to the URL. A list has thousands of links, and
 * each would be rendered again whenever the URL changes.
 */
export function RowLink({
  path,
  keepsSearch,
  children,
}: {
  readonly path: string;
  /** Whether the list stays visible, with its search and order. */
  readonly keepsSearch: boolean;
  readonly children: ReactNode;
}) {
  const router = useRouter();
  return (
    <a
      href={`${base}${path}`}
      onClick={(event) => {
        const { button, metaKey, ctrlKey, shiftKey, altKey } = event;
        // The browser handles these clicks, for example by opening another tab.
        if (button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return;
        event.preventDefault();
        void router.navigate({ to: path, search: keepsSearch ? true : {} });
      }}
    >
      {children}
    </a>
  );
}
