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
  const [lastValue, setLastValue] = useState(value);
  // `value` has changed: either to the text that this box sent, or from outside, such as by the button that clears the
  // search. Only an outside change replaces what is typed.
  if (value !== lastValue) {
    setLastValue(value);
    if (value !== sent) {
      setSent(value);
      setText(value);
    }
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
