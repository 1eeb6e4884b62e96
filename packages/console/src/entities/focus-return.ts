import { useEffect, useRef } from 'react';

/**
 * Gives the focus back to the link of a row when its panel has closed. The browser alone does not: the button that opened
 * the last dialog is no longer in the page.
 */
export function useFocusReturn(row: string | undefined): void {
  const former = useRef(row);
  useEffect(() => {
    const left = former.current;
    former.current = row;
    if (left === undefined || row !== undefined || document.activeElement !== document.body) return;
    const links = document.querySelectorAll<HTMLAnchorElement>('#content tbody a');
    [...links].find(({ pathname }) => pathname.endsWith(`/${encodeURIComponent(left)}`))?.focus();
  }, [row]);
}
