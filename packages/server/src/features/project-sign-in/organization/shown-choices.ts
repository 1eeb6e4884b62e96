import { eq } from 'drizzle-orm';
import type { LiveApp } from '../../../domain/app-access/app.ts';
import { choicesOf } from '../../../domain/federation/organization-decision.ts';
import type { IdentifiedPerson } from '../../../domain/sign-in-flow/flow-data.ts';
import type { Executor } from '../../../kernel/scoped-db.ts';
import { organizations } from '../../organizations/organization.ts';

/** What the pages show of the organizations of a user; `alone`: they may also sign in for none. */
export interface ShownChoices {
  readonly organizations: readonly { readonly id: string; readonly name: string }[];
  readonly alone: boolean;
}

export async function shownChoices(
  db: Executor,
  app: LiveApp,
  { userId }: IdentifiedPerson,
): Promise<ShownChoices> {
  if (userId === null) return { organizations: [], alone: false };
  const { organizations: ofUser, alone } = await choicesOf(db, app, userId);
  return { organizations: ofUser.map(({ id, name }) => ({ id, name })), alone };
}

/** The name of the organization that an earlier step decided on, which is its id. */
export async function chosenName(db: Executor, id: string | null | undefined): Promise<string | null> {
  if (!id) return null;
  const [row] = await db
    .select({ name: organizations.name })
    .from(organizations)
    .where(eq(organizations.id, id));
  return row?.name ?? null;
}
