import { useId, useState } from 'react';
import type { Api, components } from '@doorward/node/client';
import { useRead } from '../../api/use-api.ts';
import { targetOf, type Target } from '../../entities/declarations/entity.ts';
import { useTexts, type Texts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { Field } from '../../ui/field.tsx';
import { whyTexts } from './why-texts.ts';

type Resource = components['schemas']['Resource'];

export interface PermissionPair {
  readonly resource: string;
  readonly action: string;
}

const texts: Texts<{
  readonly choose: string;
  readonly own: string;
  readonly builtIn: string;
  readonly type: string;
  readonly list: string;
}> = {
  en: {
    choose: 'Choose …',
    own: 'Your own',
    builtIn: 'Built in',
    type: 'Type another name',
    list: 'Choose from the list',
  },
  de: {
    choose: 'Wählen …',
    own: 'Eigene',
    builtIn: 'Eingebaute',
    type: 'Einen anderen Namen eingeben',
    list: 'Aus der Liste wählen',
  },
  es: {
    choose: 'Elegir…',
    own: 'Propios',
    builtIn: 'Integrados',
    type: 'Escribir otro nombre',
    list: 'Elegir de la lista',
  },
  fr: {
    choose: 'Choisir…',
    own: 'Les vôtres',
    builtIn: 'Intégrées',
    type: 'Saisir un autre nom',
    list: 'Choisir dans la liste',
  },
};

const MOST_PAGES = 10;

async function allResources(api: Api, target: Target, signal: AbortSignal): Promise<readonly Resource[]> {
  const found: Resource[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page: Awaited<ReturnType<Api['resources']>> = await api.resources(
      { ...target, limit: 100, ...(cursor === null ? {} : { cursor }) },
      { signal },
    );
    found.push(...page.items);
    cursor = page.hasNextPage ? page.nextCursor : null;
    if (cursor === null) break;
  }
  return found;
}

/** Lets the user choose a resource and one of its actions. On request, other names can be typed. */
export function PermissionFields({
  permission,
  problems,
  onChange,
}: {
  readonly permission: PermissionPair;
  readonly problems: { readonly [part in keyof PermissionPair]?: string | undefined };
  readonly onChange: (permission: PermissionPair) => void;
}) {
  const t = useTexts(whyTexts);
  const p = useTexts(texts);
  const id = useId();
  const scope = useScope();
  const rights = useRights(scope);
  const [isTyped, setTyped] = useState(false);
  const { data: resources = [], error } = useRead(
    ['Resource', scope, 'all'],
    (api, signal) => allResources(api, targetOf(scope), signal),
    { isEnabled: rights.can('Resource:Query') },
  );
  const mayChoose = rights.can('Resource:Query') && !error;
  const isChosen = mayChoose && !isTyped;
  const { resource, action } = permission;
  const actions = resources.find(({ slug }) => slug === resource)?.actions ?? [];
  const own = resources.filter(({ isSystem }) => !isSystem);
  const builtIn = resources.filter(({ isSystem }) => isSystem);

  /** Keeps the action if the new resource has it too. Otherwise selects the resource's action if it has only one. */
  function choose(slug: string): void {
    const next = resources.find((row) => row.slug === slug)?.actions ?? [];
    const only = next.length === 1 ? (next[0] ?? '') : '';
    onChange({ resource: slug, action: next.includes(action) ? action : only });
  }

  return (
    <>
      <div className="permission-pair">
        <Field label={t.resource} hint={t.resourceHint} problem={problems.resource}>
          {(attributes) =>
            isChosen ? (
              <select
                {...attributes}
                required
                value={resource}
                onChange={(event) => choose(event.target.value)}
              >
                <option value="">{p.choose}</option>
                {resource !== '' && !resources.some(({ slug }) => slug === resource) && (
                  <option>{resource}</option>
                )}
                <Options label={p.own} rows={own} />
                <Options label={p.builtIn} rows={builtIn} />
              </select>
            ) : (
              <Text
                attributes={attributes}
                list={`${id}-resources`}
                value={resource}
                onChange={(value) => onChange({ ...permission, resource: value })}
              />
            )
          }
        </Field>
        <Field label={t.action} problem={problems.action}>
          {(attributes) =>
            isChosen ? (
              <select
                {...attributes}
                required
                value={action}
                onChange={(event) => onChange({ ...permission, action: event.target.value })}
              >
                <option value="">{p.choose}</option>
                {action !== '' && !actions.includes(action) && <option>{action}</option>}
                {actions.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            ) : (
              <Text
                attributes={attributes}
                list={`${id}-actions`}
                value={action}
                onChange={(value) => onChange({ ...permission, action: value })}
              />
            )
          }
        </Field>
      </div>
      {mayChoose && (
        <button type="button" className="quiet" onClick={() => setTyped(!isTyped)}>
          {isTyped ? p.list : p.type}
        </button>
      )}
      <datalist id={`${id}-resources`}>
        {resources.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </datalist>
      <datalist id={`${id}-actions`}>
        {actions.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

function Options({ label, rows }: { readonly label: string; readonly rows: readonly Resource[] }) {
  if (rows.length === 0) return null;
  return (
    <optgroup label={label}>
      {rows.map(({ slug, name }) => (
        <option key={slug} value={slug}>
          {name === slug ? slug : `${name} (${slug})`}
        </option>
      ))}
    </optgroup>
  );
}

function Text({
  attributes,
  list,
  value,
  onChange,
}: {
  readonly attributes: object;
  readonly list: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  return (
    <input
      {...attributes}
      required
      list={list}
      autoComplete="off"
      spellCheck={false}
      maxLength={128}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
