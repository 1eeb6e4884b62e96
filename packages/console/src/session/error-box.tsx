import { DoorwardError } from '@doorward/node/client';
import { useTexts } from '../i18n/language.ts';
import { common } from '../i18n/common.ts';
import { OtherSignInMethods } from './sign-in/other-sign-in-methods.tsx';
import { CopyButton } from '../ui/copy-button.tsx';

/** Shows what went wrong, what to do, and the request id to find it in the log. */
export function ErrorBox({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => unknown }) {
  const t = useTexts(common);
  const { message, fix, requestId, details } = describe(error, t.unreachable);
  return (
    <div className="box bad" role="alert">
      <p>
        <strong>{message}</strong>
      </p>
      {fix && <p>{fix}</p>}
      {details.length > 0 && (
        <ul>
          {details.map(({ path, message: text }) => (
            <li key={path}>
              <code>{path}</code> {text}
            </li>
          ))}
        </ul>
      )}
      {error instanceof DoorwardError && error.code === 'SSO_REQUIRED' && (
        <p>
          <OtherSignInMethods label="organization" />
        </p>
      )}
      <p className="row">
        {onRetry && (
          <button type="button" onClick={() => void onRetry()}>
            {t.retry}
          </button>
        )}
        {requestId && <CopyButton text={requestId} label={t.copyRequestId} />}
      </p>
    </div>
  );
}

interface Description {
  readonly message: string;
  readonly fix: string | undefined;
  readonly requestId: string | undefined;
  readonly details: readonly { readonly path: string; readonly message: string }[];
}

function describe(error: unknown, unreachable: string): Description {
  if (!(error instanceof DoorwardError))
    return {
      message: error instanceof Error ? error.message : String(error),
      fix: undefined,
      requestId: undefined,
      details: [],
    };
  const { message, fix, requestId, details = [], status } = error;
  return { message: status === undefined ? unreachable : message, fix, requestId, details };
}
