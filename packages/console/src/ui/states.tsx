import { useEffect, useState, type ReactNode } from 'react';
import { common } from '../i18n/common.ts';
import { useTexts } from '../i18n/language.ts';

const SKELETON_AFTER_MS = 150;

/** Gray lines while something loads. Shown only after a moment, so that fast responses don't flicker. */
export function Skeleton({ rows = 6 }: { readonly rows?: number }) {
  const t = useTexts(common);
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SKELETON_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isLate) return null;
  return (
    <div className="skeleton" role="status" aria-label={t.loading}>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  );
}

/** Shown instead of an empty list: says what it would contain, and how to add the first row. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
