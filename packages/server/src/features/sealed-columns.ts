import type { SealedColumn } from '../crypto/keys/reseal.ts';
import { signingKeySecrets } from '../crypto/keys/signing-keys-table.ts';
import { mails } from '../events/tables.ts';
import { organizationConnections } from './organization-connections/connection.ts';
import { webhookSecrets } from './webhook-subscriptions/subscription.ts';
import { mfaFactors } from './mfa/mfa-factor.ts';

/** Columns to encrypt again before a former encryption key can be removed. Sign-in flows and outcomes of their steps expire within ten minutes. */
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
