import type { FastifyInstance } from 'fastify';
import type { Language } from '../../languages.ts';
import type { OnwardLink } from '../onward.ts';
import { registerConfirmationPage, type ConfirmationTexts, type Question } from './confirmation.ts';

const texts: Record<Language, ConfirmationTexts> = {
  en: {
    title: 'Connect this account?',
    asks: 'If you connect the {provider} account {account} ({accountAddress}), you can use it to sign in as {name} ({address}).',
    warning:
      'Select “Connect” only if this account is yours: anyone who signs in with it can do everything that you can do. If it is not yours, or if you did not start this, select “Do not connect”; nothing changes then.',
    approve: 'Connect',
    deny: 'Do not connect',
    over: 'This request has expired or has already been answered. Start again from your account.',
  },
  de: {
    title: 'Dieses Konto verbinden?',
    asks: 'Wenn Sie das Konto {account} ({accountAddress}) bei {provider} verbinden, können Sie sich damit als {name} ({address}) anmelden.',
    warning:
      'Wählen Sie „Verbinden“ nur, wenn dieses Konto Ihnen gehört: Wer sich damit anmeldet, darf alles, was Sie dürfen. Wenn es Ihnen nicht gehört oder Sie das nicht begonnen haben, wählen Sie „Nicht verbinden“; dann ändert sich nichts.',
    approve: 'Verbinden',
    deny: 'Nicht verbinden',
    over: 'Diese Anfrage ist abgelaufen oder wurde schon beantwortet. Beginnen Sie in Ihrem Konto noch einmal.',
  },
  es: {
    title: '¿Conectar esta cuenta?',
    asks: 'Si conecta la cuenta de {provider} {account} ({accountAddress}), podrá usarla para iniciar sesión como {name} ({address}).',
    warning:
      'Elija «Conectar» solo si esta cuenta es suya: cualquiera que inicie sesión con ella podrá hacer todo lo que usted puede hacer. Si no es suya, o si usted no ha iniciado esto, elija «No conectar»; nada cambiará.',
    approve: 'Conectar',
    deny: 'No conectar',
    over: 'Esta solicitud ha caducado o ya se ha respondido. Empiece de nuevo desde su cuenta.',
  },
  fr: {
    title: 'Associer ce compte ?',
    asks: 'Si vous associez le compte {provider} {account} ({accountAddress}), vous pourrez l’utiliser pour vous connecter en tant que {name} ({address}).',
    warning:
      'Choisissez « Associer » seulement si ce compte est à vous : toute personne qui se connecte avec ce compte pourra faire tout ce que vous pouvez faire. S’il n’est pas à vous, ou si vous n’êtes pas à l’origine de cette demande, choisissez « Ne pas associer » ; rien ne changera.',
    approve: 'Associer',
    deny: 'Ne pas associer',
    over: 'Cette demande a expiré ou a déjà reçu une réponse. Recommencez depuis votre compte.',
  },
};

interface ConnectQuestion extends Question {
  readonly provider: string;
  readonly account: string;
  readonly accountAddress: string;
  readonly name: string;
  readonly address: string;
}

/**
 * Serves `/hosted/connect-provider`, where the user decides whether an account at a provider may sign in as them
 * (identity §8). The decision is needed because any site can send a browser to the provider and back.
 */
export const registerConnectProviderPage = (
  app: FastifyInstance,
  options: {
    readonly https: boolean;
    readonly connectQuestionFor: (flowCookie: string) => Promise<ConnectQuestion | null>;
    readonly onwardLink: OnwardLink;
  },
): void =>
  registerConfirmationPage(app, {
    path: '/hosted/connect-provider',
    https: options.https,
    onwardLink: options.onwardLink,
    texts: () => texts,
    action: '/api/auth/providers/connect',
    questionFor: options.connectQuestionFor,
    namesIn: ({ provider, account, accountAddress, name, address }) => ({
      provider,
      account,
      accountAddress,
      name,
      address,
    }),
    // The service redirects to the origin from which the user came, which may be the frontend.
    formTarget: ({ origin }) => origin,
  });
