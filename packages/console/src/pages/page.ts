import { createContext, useContext, type ComponentType, type LazyExoticComponent } from 'react';
import type { Language } from '../i18n/language.ts';
import type { Tenant } from '../scopes/scope.ts';

/** A page of a scope. */
export interface Page {
  /** Its part of the address. */
  readonly name: string;
  readonly label: Readonly<Record<Language, string>>;
  readonly tenants: readonly Tenant[];
  /** The permissions without which it is not offered; none: everybody sees it. */
  readonly needs: readonly string[];
  /** After `g`, the key that opens it. */
  readonly key?: string;
  readonly Component: LazyExoticComponent<ComponentType>;
}

/** The pages of the scope that the address names. */
export const PagesContext = createContext<readonly Page[]>([]);

/** For pages that show others: the list of pages imports them all, so they cannot import the list. */
export const usePages = (): readonly Page[] => useContext(PagesContext);
