import type { Language } from '../../../languages.ts';

/** Shown above the field for the code, if a provider does not vouch for the address of the account to connect. */
export const connectionTexts: Record<Language, string> = {
  en: '{provider} does not confirm that {address} is your address. We sent an e-mail there: enter its code, and you can sign in with this {provider} account from now on.',
  de: '{provider} bestätigt nicht, dass {address} Ihre Adresse ist. Wir haben eine E-Mail dorthin gesendet: Geben Sie den Code daraus ein, dann können Sie sich künftig mit diesem Konto bei {provider} anmelden.',
  es: '{provider} no confirma que {address} sea su dirección. Hemos enviado un correo a esa dirección: introduzca su código y podrá iniciar sesión con esta cuenta de {provider} a partir de ahora.',
  fr: '{provider} ne confirme pas que {address} est votre adresse. Nous y avons envoyé un e-mail : saisissez son code, et vous pourrez désormais vous connecter avec ce compte {provider}.',
};
