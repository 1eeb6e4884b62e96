import type { ReactNode } from 'react';
import { common } from '../i18n/common.ts';
import { formatNumber } from '../i18n/format.ts';
import { useTexts } from '../i18n/language.ts';

/** A short label of a row, or the name of another row that belongs to it. */
export function Chip({
  children,
  isBad = false,
}: {
  readonly children: ReactNode;
  readonly isBad?: boolean;
}) {
  return (
    <span className={isBad ? 'chip problem' : 'chip'}>
      <bdi>{children}</bdi>
    </span>
  );
}

/** Shows several chips, or a dash if there are none. With more than `limit`, the rest is only counted. */
export function Chips({
  texts,
  isCode = false,
  limit = Infinity,
}: {
  readonly texts: readonly string[];
  readonly isCode?: boolean;
  readonly limit?: number;
}) {
  const c = useTexts(common);
  if (texts.length === 0) return '–';
  // One more chip takes less space than the text that counts it.
  const shown = texts.length > limit + 1 ? texts.slice(0, limit) : texts;
  return (
    <>
      {shown.map((text, at) => (
        <Chip key={`${at} ${text}`}>{isCode ? <code>{text}</code> : text}</Chip>
      ))}
      {shown.length < texts.length && <small>{c.more(formatNumber(texts.length - shown.length))}</small>}
    </>
  );
}
