import type { SealedColumn } from './reseal.ts';
import { signingKeySecrets } from '../../schema/machines/signing-key.ts';
import { mails } from '../../schema/events/mail.ts';
import { organizationConnections } from '../../schema/tenants/organization-connection.ts';
import { webhookSecrets } from '../../schema/webhooks/webhook-subscription.ts';
import { mfaFactors } from '../../schema/sign-in/mfa-factor.ts';

/**
 * Columns to reseal before a former encryption key can be removed. Sign-in flows and the outcomes of their steps are
 * not included, because they expire within ten minutes.
 */
export const sealedColumns: readonly SealedColumn[] = [
  { table: signingKeySecrets, key: signingKeySecrets.keyId, sealed: signingKeySecrets.sealed },
  { table: mfaFactors, key: mfaFactors.id, sealed: mfaFactors.sealedSecret },
  { table: webhookSecrets, key: webhookSecrets.id, sealed: webhookSecrets.sealed },
  {
    table: organizationConnections,
    key: organizationConnections.id,
    sealed: organizationConnections.sealedSecret,
  },
  { table: mails, key: mails.id, sealed: mails.sealed },
];
