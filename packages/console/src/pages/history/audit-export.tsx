import { useRequest } from '../../api/use-api.ts';
import { targetOf } from '../../entities/declarations/entity.ts';
import { useTexts } from '../../i18n/language.ts';
import { idOf } from '../../scopes/scope.ts';
import { useScope } from '../../scopes/use-scope.ts';
import { ErrorBox } from '../../session/error-box.tsx';
import { download } from '../../ui/dialogs/secret-dialog.tsx';
import { auditTexts } from './audit-texts.ts';

const types = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;
type Format = keyof typeof types;

/** Downloads all entries that match the filters, even those that aren't loaded. The service records the download. */
export function AuditExport({ filters }: { readonly filters: Readonly<Record<string, string>> }) {
  const t = useTexts(auditTexts);
  const scope = useScope();
  const question = useRequest(async (api, format: Format) => {
    const input = { ...filters, ...targetOf(scope), format };
    const answer = await (scope.tenant === 'installation'
      ? api.exportInstallationAuditLogs(input, { timeoutMs: 15_000 })
      : api.exportAuditLogs(input, { timeoutMs: 15_000 }));
    download(`audit-${scope.tenant}-${idOf(scope)}.${format}`, await answer.text(), types[format]);
  });
  return (
    <>
      <p className="row">
        {t.download}
        {(['csv', 'ndjson'] as const).map((format) => (
          <button
            key={format}
            type="button"
            disabled={question.isPending}
            onClick={() => question.mutate(format)}
          >
            {format}
          </button>
        ))}
      </p>
      {question.error && <ErrorBox error={question.error} />}
    </>
  );
}
