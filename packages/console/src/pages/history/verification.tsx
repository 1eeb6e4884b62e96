import {
  checkpointReader,
  verifyEntries,
  type AuditEntry,
  type EntriesProof,
  type EntryFaultKind,
} from '@doorward/node/audit';
import { useRequest } from '../../api/use-api.ts';
import { formatNumber, plural } from '../../i18n/format.ts';
import { useTexts, type Texts } from '../../i18n/language.ts';
import { ErrorBox } from '../../session/error-box.tsx';

interface Forms {
  readonly one: string;
  readonly other: string;
}

interface VerificationTexts {
  readonly verify: string;
  readonly about: string;
  readonly insecure: string;
  readonly chain: (first: string, last: string) => string;
  readonly alone: Forms;
  readonly earlier: string;
  readonly erased: Forms;
  readonly signed: (last: string) => string;
  readonly unsigned: string;
  readonly fault: (entry: string) => string;
  readonly faults: Readonly<Record<EntryFaultKind, string>>;
}

const texts: Texts<VerificationTexts> = {
  en: {
    verify: 'Verify these entries',
    about:
      'Your browser recomputes the hashes of the entries shown and checks the signatures of the service.',
    insecure: 'Your browser verifies only over https.',
    chain: (first, last) => `Proven: entries ${first} to ${last} are one chain, unchanged and without gaps.`,
    alone: {
      one: 'Proven: # entry is unchanged. What lies around it is filtered out.',
      other: 'Proven: # entries are unchanged, each in itself. What lies between them is filtered out.',
    },
    earlier: 'What is before them is not shown, and not proven.',
    erased: {
      one: 'The personal part of # entry is erased; the rest of it is proven.',
      other: 'The personal parts of # entries are erased; the rest of them is proven.',
    },
    signed: (last) => `The service has signed what is up to entry ${last}.`,
    unsigned: 'No signature is among these entries, so only their connection is proven.',
    fault: (entry) => `Entry ${entry} is bad:`,
    faults: {
      changed: 'its content does not match its hash. It was changed.',
      personal: 'its personal part does not match its hash. It was changed.',
      missing: 'at least one entry before it is missing.',
      repeated: 'its number occurs twice.',
      replaced: 'it does not follow the entry before it. One of the two was replaced.',
      badSignature: 'no published key of the service signed this checkpoint.',
      otherSigned: 'this checkpoint signs another entry than the one that is here.',
    },
  },
  de: {
    verify: 'Diese Einträge prüfen',
    about:
      'Ihr Browser berechnet die Prüfsummen der gezeigten Einträge neu und prüft die Signaturen des Dienstes.',
    insecure: 'Ihr Browser prüft nur über https.',
    chain: (first, last) =>
      `Bewiesen: Die Einträge ${first} bis ${last} sind eine Kette, unverändert und ohne Lücken.`,
    alone: {
      one: 'Bewiesen: # Eintrag ist unverändert. Was um ihn liegt, ist ausgefiltert.',
      other:
        'Bewiesen: # Einträge sind unverändert, jeder für sich. Was zwischen ihnen liegt, ist ausgefiltert.',
    },
    earlier: 'Was vor ihnen liegt, ist nicht gezeigt und nicht bewiesen.',
    erased: {
      one: 'Bei # Eintrag ist der persönliche Teil gelöscht; der Rest ist bewiesen.',
      other: 'Bei # Einträgen ist der persönliche Teil gelöscht; der Rest ist bewiesen.',
    },
    signed: (last) => `Der Dienst hat signiert, was bis Eintrag ${last} steht.`,
    unsigned: 'Unter diesen Einträgen ist keine Signatur; bewiesen ist nur ihr Zusammenhang.',
    fault: (entry) => `Eintrag ${entry} ist fehlerhaft:`,
    faults: {
      changed: 'Sein Inhalt passt nicht zu seiner Prüfsumme. Er wurde verändert.',
      personal: 'Sein persönlicher Teil passt nicht zu seiner Prüfsumme. Er wurde verändert.',
      missing: 'Vor ihm fehlt mindestens ein Eintrag.',
      repeated: 'Seine Nummer kommt zweimal vor.',
      replaced: 'Er folgt nicht auf den Eintrag vor ihm. Einer der beiden wurde ersetzt.',
      badSignature: 'Kein veröffentlichter Schlüssel des Dienstes hat diesen Prüfpunkt signiert.',
      otherSigned: 'Dieser Prüfpunkt signiert einen anderen Eintrag als den, der hier steht.',
    },
  },
  es: {
    verify: 'Verificar estas entradas',
    about:
      'Su navegador vuelve a calcular las huellas de las entradas mostradas y comprueba las firmas del servicio.',
    insecure: 'Su navegador solo verifica por https.',
    chain: (first, last) =>
      `Probado: las entradas ${first} a ${last} forman una cadena, sin cambios ni huecos.`,
    alone: {
      one: 'Probado: # entrada no ha cambiado. Lo que la rodea está filtrado.',
      other: 'Probado: # entradas no han cambiado, cada una por sí. Lo que hay entre ellas está filtrado.',
    },
    earlier: 'Lo anterior a ellas no se muestra ni está probado.',
    erased: {
      one: 'La parte personal de # entrada está borrada; el resto está probado.',
      other: 'Las partes personales de # entradas están borradas; el resto está probado.',
    },
    signed: (last) => `El servicio ha firmado lo que hay hasta la entrada ${last}.`,
    unsigned: 'Entre estas entradas no hay ninguna firma; solo está probada su conexión.',
    fault: (entry) => `La entrada ${entry} es errónea:`,
    faults: {
      changed: 'su contenido no coincide con su huella. Fue modificada.',
      personal: 'su parte personal no coincide con su huella. Fue modificada.',
      missing: 'falta al menos una entrada antes de ella.',
      repeated: 'su número aparece dos veces.',
      replaced: 'no sigue a la entrada anterior. Una de las dos fue reemplazada.',
      badSignature: 'ninguna clave publicada del servicio firmó este punto de control.',
      otherSigned: 'este punto de control firma otra entrada que la que está aquí.',
    },
  },
  fr: {
    verify: 'Vérifier ces entrées',
    about:
      'Votre navigateur recalcule les empreintes des entrées affichées et vérifie les signatures du service.',
    insecure: 'Votre navigateur ne vérifie que par https.',
    chain: (first, last) =>
      `Prouvé : les entrées ${first} à ${last} forment une chaîne, inchangée et sans lacune.`,
    alone: {
      one: 'Prouvé : # entrée est inchangée. Ce qui l’entoure est filtré.',
      other: 'Prouvé : # entrées sont inchangées, chacune en elle-même. Ce qui est entre elles est filtré.',
    },
    earlier: 'Ce qui les précède n’est ni affiché ni prouvé.',
    erased: {
      one: 'La partie personnelle de # entrée est effacée ; le reste est prouvé.',
      other: 'Les parties personnelles de # entrées sont effacées ; le reste est prouvé.',
    },
    signed: (last) => `Le service a signé ce qui va jusqu’à l’entrée ${last}.`,
    unsigned: 'Aucune signature n’est parmi ces entrées ; seul leur lien est prouvé.',
    fault: (entry) => `L’entrée ${entry} est fautive :`,
    faults: {
      changed: 'son contenu ne correspond pas à son empreinte. Elle a été modifiée.',
      personal: 'sa partie personnelle ne correspond pas à son empreinte. Elle a été modifiée.',
      missing: 'il manque au moins une entrée avant elle.',
      repeated: 'son numéro apparaît deux fois.',
      replaced: 'elle ne suit pas l’entrée précédente. L’une des deux a été remplacée.',
      badSignature: 'aucune clé publiée du service n’a signé ce point de contrôle.',
      otherSigned: 'ce point de contrôle signe une autre entrée que celle qui est ici.',
    },
  },
};

/** Verifies the entries on the page, and shows the first bad one. */
export function Verification({
  entries,
  isFiltered,
}: {
  readonly entries: readonly AuditEntry[];
  /** Whether filters other than times are set, so that entries in between are missing. */
  readonly isFiltered: boolean;
}) {
  const t = useTexts(texts);
  const question = useRequest(async (api, shown: readonly AuditEntry[]) => {
    const { keys } = await api.auditJwks({});
    return {
      shown,
      proof: await verifyEntries(shown, { isFiltered, readCheckpoint: checkpointReader(keys) }),
    };
  });
  // Browsers offer Web Crypto only in a secure context.
  if (!isSecureContext) return <p className="hint">{t.insecure}</p>;
  const answer = question.data;
  // The result is hidden if other entries are shown by now, because it doesn't prove those.
  const isSame =
    answer?.shown.length === entries.length &&
    answer.shown.every(({ id }, index) => id === entries[index]?.id);
  const proof = isSame ? answer.proof : null;
  return (
    <section>
      <button type="button" disabled={question.isPending} onClick={() => question.mutate(entries)}>
        {t.verify}
      </button>
      <p className="hint">{t.about}</p>
      {question.error && <ErrorBox error={question.error} />}
      <div role="status">{proof && <Result proof={proof} isFiltered={isFiltered} />}</div>
    </section>
  );
}

function Result({ proof, isFiltered }: { readonly proof: EntriesProof; readonly isFiltered: boolean }) {
  const t = useTexts(texts);
  const { fault, count, first, last, erased, signedUpTo } = proof;
  if (fault)
    return (
      <div className="box bad">
        <p>
          <strong>{t.fault(formatNumber(fault.entry.sequence))}</strong> {t.faults[fault.kind]}
        </p>
        <p>
          <code>{fault.entry.id}</code>
        </p>
      </div>
    );
  return (
    <div className="box">
      <p className="gain">
        {isFiltered ? plural(count, t.alone) : t.chain(formatNumber(first), formatNumber(last))}
      </p>
      {!isFiltered && first > 1 && <p>{t.earlier}</p>}
      {erased > 0 && <p>{plural(erased, t.erased)}</p>}
      {!isFiltered && <p>{signedUpTo === null ? t.unsigned : t.signed(formatNumber(signedUpTo))}</p>}
    </div>
  );
}
