export { checkpointReader, type CheckpointKey, type ReadCheckpoint } from './audit/checkpoint-reader.ts';
export type { AuditEntry } from './audit/entry-proof.ts';
export {
  verifyEntries,
  type EntriesProof,
  type EntryFault,
  type EntryFaultKind,
} from './audit/verify-entries.ts';
export {
  verifyExport,
  type ChainReport,
  type ExportFault,
  type ExportFaultKind,
  type ExportProof,
  type VerifyExportOptions,
} from './audit/verify-export.ts';
