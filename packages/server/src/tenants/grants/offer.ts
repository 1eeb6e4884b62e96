import { eq } from 'drizzle-orm';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { withoutRls } from '../../db/tenancy/rls.ts';
import type { Services, Run } from '../../services.ts';
import { findAddressOwner } from '../../people/address.ts';
import { flushMails } from '../../people/flush-mails.ts';
import { consumeMailQuota } from '../../sign-in/protection/mail-limit.ts';
import { projectGrantTokens } from '../../schema/tenants/project-grant.ts';
import { offerMail } from './offer-mail.ts';
import { placeOf, type GrantRow } from './store.ts';

const OFFER_DAYS = 7;

export const newOfferEnd = ({ clock }: Pick<Services, 'clock'>): Date =>
  new Date(clock.now().getTime() + OFFER_DAYS * 86_400_000);

/**
 * Queues the mail with a new link. When the address has reached its mail limit, no mail is sent, the response is the
 * same, and the earlier link stays valid.
 */
export async function sendOffer(ctx: Run, grant: GrantRow, to: string): Promise<void> {
  const { tx, services, call } = ctx;
  if (!(await consumeMailQuota(services, 'invitation', to))) return;
  const token = newOneTimeToken();
  const hash = hashOneTimeToken(token);
  await tx
    .insert(projectGrantTokens)
    .values({ hash, grantId: grant.id })
    .onConflictDoUpdate({
      target: projectGrantTokens.grantId,
      set: { hash, createdAt: services.clock.now() },
    });
  await withoutRls(tx, async () => {
    const { projectName: project, ownerName: owner } = await placeOf(tx, grant.projectId);
    const language = (await findAddressOwner(tx, to))?.locale ?? call.language;
    const expiresAt = grant.expiresAt ?? newOfferEnd(services);
    await services.mail.queue(
      tx,
      offerMail(services.config, { to, language, token, expiresAt, project, owner }),
    );
  });
  flushMails(ctx);
}

export const hasTokenHash = (token: string) => eq(projectGrantTokens.hash, hashOneTimeToken(token));
