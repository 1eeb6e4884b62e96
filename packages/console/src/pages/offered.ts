import type { Tenant } from '../scopes/scope.ts';
import { pagesOf, type Page } from './pages.ts';
import { sections, type Section } from './sections.ts';

/** The pages that are offered to people who hold these permissions, in the order of their sections. */
export const offeredPages = (tenant: Tenant, can: (permission: string) => boolean): readonly Page[] =>
  offeredSections(tenant, can).flatMap((section) => section.pages);

/** The same below their headings; a section without a page is left out. */
export function offeredSections(
  tenant: Tenant,
  can: (permission: string) => boolean,
): readonly (Section & { readonly pages: readonly Page[] })[] {
  const offered = pagesOf(tenant).filter(({ needs }) => needs.every(can));
  return sections
    .map((section) => ({ ...section, pages: offered.filter(({ name }) => section.names.includes(name)) }))
    .filter((section) => section.pages.length > 0);
}
