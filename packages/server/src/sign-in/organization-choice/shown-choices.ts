import { eq, inArray } from 'drizzle-orm';
import type { LiveApp } from '../../apps/access/app.ts';
import { choicesOf } from '../admission/organization-decision.ts';
import type { IdentifiedPerson } from '../flow/flow-data.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { organizations } from '../../schema/tenants/organization.ts';

/** The organizations that the pages offer a user. `withoutOrganization`: whether they may also sign in without one. */
export interface ShownChoices {
  readonly organizations: readonly {
    readonly id: string;
    readonly name: string;
    /** The path of its logo. */
    readonly logoPath: string | null;
  }[];
  readonly withoutOrganization: boolean;
}

export async function shownChoices(
  db: Executor,
  app: LiveApp,
  { userId }: IdentifiedPerson,
): Promise<ShownChoices> {
  if (userId === null) return { organizations: [], withoutOrganization: false };
  const { organizations: ofUser, withoutOrganization } = await choicesOf(db, app, userId);
  const rows = await db
    .select({ id: organizations.id, logoUrl: organizations.logoUrl })
    .from(organizations)
    .where(
      inArray(
        organizations.id,
        ofUser.map(({ id }) => id),
      ),
    );
  const logoOf = new Map(rows.map(({ id, logoUrl }) => [id, logoUrl && new URL(logoUrl).pathname]));
  return {
    organizations: ofUser.map(({ id, name }) => ({ id, name, logoPath: logoOf.get(id) ?? null })),
    withoutOrganization,
  };
}

/** The name of the organization that an earlier step decided on. */
export async function chosenName(db: Executor, id: string | null | undefined): Promise<string | null> {
  if (!id) return null;
  const [row] = await db
    .select({ name: organizations.name })
    .from(organizations)
    .where(eq(organizations.id, id));
  return row?.name ?? null;
}
