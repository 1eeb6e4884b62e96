import { createContext, useContext, type ComponentType, type LazyExoticComponent } from 'react';
import type { Language } from '../i18n/language.ts';
import type { Tenant } from '../scopes/scope.ts';

/** A page of a scope. */
export interface Page {
  /** The part of the URL that names the page. */
  readonly name: string;
  readonly label: Readonly<Record<Language, string>>;
  readonly tenants: readonly Tenant[];
  /** The permissions that are needed. Without them the page isn't offered; if there are none, everyone sees it. */
  readonly needs: readonly string[];
  /** The key that opens the page after `g`. */
  readonly key?: string;
  readonly Component: LazyExoticComponent<ComponentType>;
}

/** The pages of the scope in the URL. */
export const PagesContext = createContext<readonly Page[]>([]);

/** Returns the pages of the scope. Pages use this hook, because the list of all pages imports them. */
export const usePages = (): readonly Page[] => useContext(PagesContext);
