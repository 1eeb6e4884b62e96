import type { SealedColumn } from '../crypto/reseal.ts';
import { signingKeySecrets } from '../crypto/signing-keys-table.ts';
import { mails } from '../events/tables.ts';
import { webhookSecrets } from './webhook-subscriptions/subscription.ts';
import { mfaFactors } from './mfa/mfa-factor.ts';

/** What has to be sealed anew before a former encryption key can go. Flows of a sign-in end within ten minutes. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: signingKeySecrets, key: signingKeySecrets.keyId, sealed: signingKeySecrets.sealed },
  { table: mfaFactors, key: mfaFactors.id, sealed: mfaFactors.sealedSecret },
  { table: webhookSecrets, key: webhookSecrets.id, sealed: webhookSecrets.sealed },
  { table: mails, key: mails.id, sealed: mails.sealed },
];
