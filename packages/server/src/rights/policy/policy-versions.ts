import { withDefaults } from '@doorward/decision/document/defaults';
import type { Members, PolicyDocument } from '@doorward/decision/document/document';
import { and, desc, eq, lte } from 'drizzle-orm';
import { fail } from '../../errors.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { policyVersions, policyDocuments } from '../../schema/rights/policy-version.ts';

/** The last version with its document; null if there is none yet. */
export async function lastVersion(tx: Executor, projectId: string): Promise<StoredVersion | null> {
  const [row] = await tx
    .select({ number: policyDocuments.number, document: policyDocuments.document })
    .from(policyDocuments)
    .where(eq(policyDocuments.tenantId, projectId))
    .orderBy(desc(policyDocuments.number))
    .limit(1);
  return row ? { ...row, document: complete(row.document) } : null;
}
interface StoredVersion {
  readonly number: number;
  readonly document: PolicyDocument;
}

/** The document of a version; null if it is not kept any more. */
export async function storedDocument(
  tx: Executor,
  projectId: string,
  number: number,
): Promise<PolicyDocument | null> {
  const [row] = await tx
    .select({ document: policyDocuments.document })
    .from(policyDocuments)
    .where(and(eq(policyDocuments.tenantId, projectId), eq(policyDocuments.number, number)));
  return row ? complete(row.document) : null;
}

/** Adds defaults to a document that was stored before a kind of rows, or a member, existed. */
const complete = (document: Members<PolicyDocument>): PolicyDocument => withDefaults(document);

/** Asserts that the document is still kept. @throws NOT_FOUND */
export function keptDocument(document: PolicyDocument | null): PolicyDocument {
  if (!document) throw fail('NOT_FOUND', { fix: 'The last 500 documents are kept: see policyVersions.' });
  return document;
}

/** @throws NOT_FOUND */
export async function versionId(tx: Executor, projectId: string, number: number): Promise<string> {
  const [row] = await tx
    .select({ id: policyVersions.id })
    .from(policyVersions)
    .where(and(eq(policyVersions.tenantId, projectId), eq(policyVersions.number, number)));
  if (!row) throw fail('NOT_FOUND');
  return row.id;
}

const KEPT_DOCUMENTS = 500;

/** Stores a version. Call it under the lock of the node, because versions are numbered without gaps. */
export async function storeVersion(
  tx: Executor,
  row: typeof policyVersions.$inferInsert,
  document: PolicyDocument,
): Promise<void> {
  const { tenantId, number } = row;
  await tx.insert(policyVersions).values(row);
  await tx.insert(policyDocuments).values({ tenantId, number, document });
  await tx
    .delete(policyDocuments)
    .where(and(eq(policyDocuments.tenantId, tenantId), lte(policyDocuments.number, number - KEPT_DOCUMENTS)));
}
