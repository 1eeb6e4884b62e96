import type { Api } from '@doorward/node/client';
import { EntityForm } from '../../../entities/forms/entity-form.tsx';

/** Asks for confirmation before something is ended or removed, and explains the consequences. */
export function Confirmation({
  title,
  consequence,
  submitLabel,
  act,
  onClose,
}: {
  readonly title: string;
  readonly consequence: string;
  readonly submitLabel: string;
  readonly act: (api: Api) => Promise<unknown>;
  readonly onClose: () => void;
}) {
  return (
    <EntityForm
      title={title}
      fields={[]}
      about={consequence}
      submitLabel={submitLabel}
      isDangerous
      save={act}
      onDone={onClose}
      onClose={onClose}
    />
  );
}
