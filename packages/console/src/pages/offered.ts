import type { Page } from './page.ts';
import { sections, type Section } from './sections.ts';

/** Returns the pages for which the user has the permissions, in the order of their sections. */
export const offeredPages = (pages: readonly Page[], can: (permission: string) => boolean): readonly Page[] =>
  offeredSections(pages, can).flatMap((section) => section.pages);

/** Returns these pages grouped by section, without empty sections. */
export function offeredSections(
  pages: readonly Page[],
  can: (permission: string) => boolean,
): readonly (Section & { readonly pages: readonly Page[] })[] {
  const offered = pages.filter(({ needs }) => needs.every(can));
  return sections
    .map((section) => ({ ...section, pages: offered.filter(({ name }) => section.names.includes(name)) }))
    .filter((section) => section.pages.length > 0);
}
