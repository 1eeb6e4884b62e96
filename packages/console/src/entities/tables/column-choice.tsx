import { useState } from 'react';
import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';
import { readSetting, writeSetting } from '../../settings.ts';
import { Menu } from '../../ui/menu.tsx';
import type { Column } from '../../ui/tables/table.tsx';

/** The columns that the user has hidden in lists of a noun. They are stored in the browser. */
export function useHiddenColumns(noun: string): {
  readonly hidden: ReadonlySet<string>;
  readonly toggle: (key: string) => void;
} {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(
    () => new Set((readSetting(`columns.${noun}`) ?? '').split(',').filter(Boolean)),
  );
  return {
    hidden,
    toggle: (key) => {
      const next = new Set(hidden);
      if (!next.delete(key)) next.add(key);
      setHidden(next);
      writeSetting(`columns.${noun}`, next.size === 0 ? null : [...next].join(','));
    },
  };
}

/** Lets the user choose the columns of a list. The first one names the row and can't be hidden. */
export function ColumnChoice<R>({
  columns,
  hidden,
  onToggle,
}: {
  readonly columns: readonly Column<R>[];
  readonly hidden: ReadonlySet<string>;
  readonly onToggle: (key: string) => void;
}) {
  const t = useTexts(common);
  return (
    <Menu className="column-choice" label={t.chosenColumns}>
      <div className="choices" role="group" aria-label={t.chosenColumns}>
        {columns.slice(1).map(({ key, label }) => (
          <label key={key}>
            <input type="checkbox" checked={!hidden.has(key)} onChange={() => onToggle(key)} /> {label}
          </label>
        ))}
      </div>
    </Menu>
  );
}
