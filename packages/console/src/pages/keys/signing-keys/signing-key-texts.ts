import type { EntityTexts } from '../../../entities/declarations/entity.ts';
import type { Texts } from '../../../i18n/language.ts';

export interface SigningKeyTexts extends EntityTexts {
  readonly kid: string;
  readonly next: string;
  readonly active: string;
  readonly retired: string;
  readonly revoked: string;
  readonly activatedAt: string;
  readonly retiredAt: string;
  readonly publishedUntil: string;
  readonly algorithm: string;
  readonly issuer: string;
  readonly publicKey: string;
  readonly address: string;
  readonly addressAbout: string;
  readonly rotate: string;
  readonly rotateAbout: string;
  readonly revokeOld: string;
  readonly revokeOldHint: string;
}

export const signingKeyTexts: Texts<SigningKeyTexts> = {
  en: {
    title: 'Signing keys',
    about:
      'With these keys the service signs the tokens of this project. Whoever gets a token checks it with them.',
    create: '',
    empty: 'There are no signing keys yet. The first token of this project brings them.',
    removal: '',
    kid: 'Key id (kid)',
    next: 'is published and signs next',
    active: 'signs now',
    retired: 'signs no more, its tokens still count',
    revoked: 'revoked, its tokens are refused',
    activatedAt: 'Signs since',
    retiredAt: 'Signed until',
    publishedUntil: 'Published until',
    algorithm: 'Algorithm',
    issuer: 'Issuer',
    publicKey: 'Public key',
    address: 'Address of the public keys (JWKS)',
    addressAbout:
      'Programs that check tokens read the keys here. The address does not change when the keys do.',
    rotate: 'Change the key',
    rotateAbout:
      'From now on the next key signs. Tokens that exist still count, and programs that check them notice nothing.',
    revokeOld: 'Revoke the earlier keys',
    revokeOldHint:
      'Only after a key leaked: the service refuses every token that they signed, within a second. Programs and people need new tokens.',
  },
  de: {
    title: 'Signaturschlüssel',
    about:
      'Mit diesen Schlüsseln unterschreibt der Dienst die Tokens dieses Projekts. Wer ein Token bekommt, prüft es damit.',
    create: '',
    empty: 'Es gibt noch keine Signaturschlüssel. Sie entstehen mit dem ersten Token dieses Projekts.',
    removal: '',
    kid: 'Schlüssel-ID (kid)',
    next: 'ist veröffentlicht und unterschreibt als nächster',
    active: 'unterschreibt jetzt',
    retired: 'unterschreibt nicht mehr, seine Tokens gelten noch',
    revoked: 'gesperrt, seine Tokens werden abgewiesen',
    activatedAt: 'Unterschreibt seit',
    retiredAt: 'Unterschrieb bis',
    publishedUntil: 'Veröffentlicht bis',
    algorithm: 'Verfahren',
    issuer: 'Aussteller',
    publicKey: 'Öffentlicher Schlüssel',
    address: 'Adresse der öffentlichen Schlüssel (JWKS)',
    addressAbout:
      'Programme, die Tokens prüfen, lesen die Schlüssel hier. Die Adresse bleibt, auch wenn die Schlüssel wechseln.',
    rotate: 'Schlüssel wechseln',
    rotateAbout:
      'Ab jetzt unterschreibt der nächste Schlüssel. Bestehende Tokens gelten weiter, und Programme, die sie prüfen, merken nichts.',
    revokeOld: 'Die früheren Schlüssel sperren',
    revokeOldHint:
      'Nur wenn ein Schlüssel in fremde Hände geraten ist: Der Dienst weist binnen einer Sekunde jedes Token ab, das sie unterschrieben haben. Programme und Personen brauchen neue Tokens.',
  },
  es: {
    title: 'Claves de firma',
    about:
      'Con estas claves el servicio firma los tokens de este proyecto. Quien recibe un token lo comprueba con ellas.',
    create: '',
    empty: 'Aún no hay claves de firma. Llegan con el primer token de este proyecto.',
    removal: '',
    kid: 'Id de la clave (kid)',
    next: 'está publicada y firmará después',
    active: 'firma ahora',
    retired: 'ya no firma, sus tokens aún valen',
    revoked: 'revocada, sus tokens se rechazan',
    activatedAt: 'Firma desde',
    retiredAt: 'Firmó hasta',
    publishedUntil: 'Publicada hasta',
    algorithm: 'Algoritmo',
    issuer: 'Emisor',
    publicKey: 'Clave pública',
    address: 'Dirección de las claves públicas (JWKS)',
    addressAbout:
      'Los programas que comprueban tokens leen aquí las claves. La dirección no cambia aunque cambien las claves.',
    rotate: 'Cambiar la clave',
    rotateAbout:
      'Desde ahora firma la clave siguiente. Los tokens existentes siguen valiendo, y los programas que los comprueban no notan nada.',
    revokeOld: 'Revocar las claves anteriores',
    revokeOldHint:
      'Solo si una clave se filtró: el servicio rechaza en un segundo todos los tokens que firmaron. Los programas y las personas necesitan tokens nuevos.',
  },
  fr: {
    title: 'Clés de signature',
    about:
      'Avec ces clés, le service signe les jetons de ce projet. Quiconque reçoit un jeton le vérifie avec elles.',
    create: '',
    empty: 'Il n’y a pas encore de clés de signature. Elles viennent avec le premier jeton de ce projet.',
    removal: '',
    kid: 'Id de la clé (kid)',
    next: 'est publiée et signera ensuite',
    active: 'signe maintenant',
    retired: 'ne signe plus, ses jetons restent valables',
    revoked: 'révoquée, ses jetons sont refusés',
    activatedAt: 'Signe depuis',
    retiredAt: 'A signé jusqu’à',
    publishedUntil: 'Publiée jusqu’à',
    algorithm: 'Algorithme',
    issuer: 'Émetteur',
    publicKey: 'Clé publique',
    address: 'Adresse des clés publiques (JWKS)',
    addressAbout:
      'Les programmes qui vérifient les jetons lisent les clés ici. L’adresse ne change pas avec les clés.',
    rotate: 'Changer de clé',
    rotateAbout:
      'Dès maintenant, la clé suivante signe. Les jetons existants restent valables, et les programmes qui les vérifient ne remarquent rien.',
    revokeOld: 'Révoquer les clés précédentes',
    revokeOldHint:
      'Seulement si une clé a fui : le service refuse en une seconde tous les jetons qu’elles ont signés. Les programmes et les personnes ont besoin de nouveaux jetons.',
  },
};
