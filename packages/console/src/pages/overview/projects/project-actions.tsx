import { useState } from 'react';
import { useNavigate } from '@tanstack/react-router';
import type { components } from '@doorward/node/client';
import { EntityForm } from '../../../entities/forms/entity-form.tsx';
import { descriptionField, nameField } from '../../../entities/declarations/fields.ts';
import { RowForm } from '../../../entities/forms/row-form.tsx';
import { targetOf } from '../../../entities/declarations/entity.ts';
import { common } from '../../../i18n/common.ts';
import { useTexts } from '../../../i18n/language.ts';
import { ownerOf, type Scope } from '../../../scopes/scope.ts';
import { useRights } from '../../../scopes/use-scope.ts';
import { slugField, slugTexts, typedSlugField } from '../../tenants/slug-field.ts';
import { projectTexts } from './project-texts.ts';
import { registrationFields, registrationInput, registrationTexts } from './registration-fields.ts';

/** Buttons to edit the settings of a project and to delete it. */
export function ProjectActions({
  project,
  scope,
}: {
  readonly project: components['schemas']['Project'];
  readonly scope: Scope;
}) {
  const { id, name, slug, description } = project;
  const t = useTexts(projectTexts);
  const s = useTexts(slugTexts);
  const r = useTexts(registrationTexts);
  const c = useTexts(common);
  const { can } = useRights(scope);
  const navigate = useNavigate();
  const [act, setAct] = useState<'edit' | 'remove' | null>(null);
  const close = (): void => setAct(null);
  const target = { ...targetOf(scope), id };
  const owner = ownerOf(scope);
  const leave = (): void =>
    void (owner
      ? navigate({ to: '/$tenant/$id/$page', params: { ...owner, page: 'overview' } })
      : navigate({ to: '/' }));
  return (
    <div className="row">
      {can('Project:Update') && (
        <button type="button" onClick={() => setAct('edit')}>
          {c.edit}
        </button>
      )}
      {can('Project:Delete') && (
        <button type="button" className="bad" onClick={() => setAct('remove')}>
          {c.remove}
        </button>
      )}
      <RowForm
        noun="Project"
        row={project}
        title={name}
        fields={[
          { ...nameField(c, name), isHarmless: true },
          slugField(s, slug),
          descriptionField(c, description),
          ...registrationFields(r, project),
        ]}
        save={(api, values) => api.updateProject({ ...registrationInput(project, values), ...target })}
        isOpen={act === 'edit'}
        onOpen={() => setAct('edit')}
        onClose={close}
      />
      {act === 'remove' && (
        <EntityForm
          title={`${c.remove}: ${name}`}
          submitLabel={c.remove}
          fields={[typedSlugField(s, slug)]}
          about={t.removal}
          isDangerous
          save={(api) => api.deleteProject(target)}
          onDone={leave}
          onClose={close}
        />
      )}
    </div>
  );
}
