import { useEffect, useState } from 'react';
import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';

const SEARCH_AFTER_MS = 250;

/** The search of a list. What the user types is written to the URL after a short delay. */
export function SearchBox({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (query: { readonly q: string | undefined }) => void;
}) {
  const c = useTexts(common);
  const [text, setText] = useState(value);
  const [sent, setSent] = useState(value);
  const [address, setAddress] = useState(value);
  // Something other than this box has changed the URL, such as the button that clears the search.
  if (value !== address) {
    setAddress(value);
    if (value !== sent) setText(value);
  }
  useEffect(() => {
    const timer = setTimeout(() => {
      if (text === value) return;
      setSent(text);
      onChange({ q: text || undefined });
    }, SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  });
  return (
    <input
      type="search"
      className="search"
      data-search
      aria-label={c.search}
      placeholder={c.search}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  );
}
