import { useTexts } from '../../i18n/language.ts';
import { isSameScope, type Scope } from '../../scopes/scope.ts';
import { useScopes } from '../../scopes/use-scopes.ts';
import { frameTexts } from '../texts/frame-texts.ts';

/** A button that shows the current scope. It opens the palette, which lists the others. */
export function ScopeSwitcher({
  scope,
  onOpen,
}: {
  readonly scope: Scope | null;
  readonly onOpen: () => void;
}) {
  const t = useTexts(frameTexts);
  const { scopes } = useScopes(t, scope);
  const current = scope && scopes.find((named) => isSameScope(named.scope, scope));
  return (
    <button type="button" className="switcher" onClick={onOpen}>
      {current && <span className="hidden">{t.switchScope}: </span>}
      <bdi>
        {current ? (current.owner ? `${current.owner} / ${current.name}` : current.name) : t.switchScope}
      </bdi>
      <kbd aria-hidden="true">Ctrl K</kbd>
    </button>
  );
}
