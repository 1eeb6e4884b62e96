import { useEffect, useRef } from 'react';

/**
 * Returns the focus to the link of a row when its panel closes, unless the browser has done so. It can't after a form
 * that was opened from the panel, because the button that opened it is no longer on the page.
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
