import type { DetailCode } from '../../errors.ts';
import type { UserRow } from '../../schema/people/user.ts';
import type { LogoutQuestion, WayBack } from './logout-question.ts';
import type { AppRequest, CliRequest, WaitingDevice } from '../../apps/access/app-request.ts';
import type { Identity } from '../../providers/provider.ts';

/* Data that a sign-in keeps between its steps. It is stored sealed (`flow.ts`). */

/** Who has signed in for a command line, and how. */
interface CliUser {
  readonly userId: string;
  readonly amr: readonly string[];
  readonly authenticatedAt: string;
}

/** What a new user said of themselves before they proved their address. Nothing of it is used for an existing user. */
export interface NewUser {
  readonly name: string;
  /** Hash of their password; null: they sign in by mail. */
  readonly passwordHash: string | null;
  readonly locale: UserRow['locale'];
}

/**
 * How a person proved their identity: a mailed code or link, their password, a passkey, a provider that vouches for the
 * address, or a former sign-in.
 */
export type Proof =
  | { readonly provider: 'email'; readonly address: string; readonly newUser?: NewUser }
  | { readonly provider: 'password'; readonly address: string; readonly userId: string }
  | { readonly provider: 'passkey'; readonly userId: string }
  | { readonly provider: 'github' | 'oidc'; readonly identity: Identity }
  /** `boundTo`: the organization whose provider vouched for them then. */
  | {
      readonly provider: 'sso';
      readonly userId: string;
      readonly sessionId: string;
      readonly boundTo?: string;
    };

/** A person who has proved their identity. Before they consent, no user, linked account or membership is created. */
export interface IdentifiedPerson {
  readonly proof: Proof;
  /** Null: no user exists yet; the app's sign-up will create one. */
  readonly userId: string | null;
  readonly authenticatedAt: string;
  readonly amr: readonly string[];
  /** When they gave the second factor, if they did. */
  readonly factorAt: string | null;
}

/** The message that the page shows at this step. */
export type Notice =
  | 'wrongCode'
  | 'codesNotKept'
  | 'wrongMailedCode'
  | 'mailedCodeEnded'
  | 'wrongPassword'
  | 'passkeyRefused'
  | 'passwordChanged'
  | 'accountExists'
  | 'noAccount'
  | 'providerFailed'
  | 'providerRefused'
  | 'addressInvalid'
  | 'emailNotVerified'
  | 'methodLimit'
  | 'connectionRequired';

/** What a mailed code is for. A code for one purpose does nothing for another. */
export type CodePurpose =
  | { readonly name: 'signIn'; readonly newUser?: NewUser }
  /** Connects the account at a provider that named the address without vouching for it. */
  | { readonly name: 'connection'; readonly identity: Identity }
  /** Of a user whose password or passkey was right, and whose address is not verified yet. */
  | {
      readonly name: 'verification';
      readonly userId: string;
      /** How the passkey authenticated them; absent: they gave their password. */
      readonly passkeyAmr?: readonly string[];
    }
  | { readonly name: 'reset' };

/** The newest mail that was requested, with a code and a link that prove the address. */
export interface MailedCode {
  readonly address: string;
  /** Null: nothing was mailed, so no code fits; otherwise guesses would cost no mail. */
  readonly code: string | null;
  readonly purpose: CodePurpose;
  /** Hash of the token in the link; absent: nothing was mailed. */
  readonly tokenHash?: string;
  readonly wrongEntries: number;
  readonly expiresAt: string;
}

/** The forms of the first page, one at a time. */
export type SignInForm = 'signIn' | 'signUp' | 'reset';

/** The first step: the person chooses how to prove who they are. */
export interface SignInStep {
  readonly name: 'signIn';
  /** The form that was sent last; absent: none. */
  readonly form?: SignInForm;
  /** The address with which they sign in; absent: the page asks for it. */
  readonly address?: string;
  /** What was typed into the form, without passwords and codes. */
  readonly entered?: { readonly email?: string; readonly name?: string };
  /** The fields that were refused. */
  readonly problems?: readonly { readonly path: string; readonly code: DetailCode }[];
  readonly notice?: Notice;
  /** The key of the provider, or id of the connection, to which the person went last; absent: GitHub, or none. */
  readonly providerKey?: string;
  /** The connection of an organization to which the domain of the address leads. */
  readonly connection?: { readonly id: string; readonly name: string; readonly enforced: boolean };
  /** The address as the page shows it, whether a mail was sent or not; absent: the page asks for no code. */
  readonly mailedTo?: string;
  readonly mail?: MailedCode;
}

/** The person adds an authenticator app: first its code, then they keep the recovery codes. */
export interface EnrolmentStep {
  readonly name: 'enrolment';
  readonly user: IdentifiedPerson;
  /** Base64url; null: the app is added. */
  readonly secret: string | null;
  /** Once the app is added. */
  readonly recoveryCodes?: readonly string[];
  readonly notice?: Notice;
}

/** A project sign-in and its current step. */
export interface ProjectSignIn {
  readonly asked: AppRequest;
  /** PKCE verifier for the provider, if the user signs in through one. */
  readonly verifier: string;
  readonly step:
    | SignInStep
    | { readonly name: 'secondFactor'; readonly user: IdentifiedPerson; readonly notice?: Notice }
    | EnrolmentStep
    /** The user chooses for which organization they sign in. */
    | { readonly name: 'organization'; readonly user: IdentifiedPerson }
    /** `shown`: the scopes that the page lists; null: the app is not restricted. `later`: those not held yet. */
    | {
        readonly name: 'consent';
        readonly user: IdentifiedPerson;
        readonly shown: readonly string[] | null;
        readonly later?: readonly string[];
      }
    /** The sign-in is over, and a form posts the answer to the app. */
    | { readonly name: 'respond'; readonly fields: Readonly<Record<string, string>> };
}

/** The data of each kind of flow. A state of one kind does not finish a flow of another. */
export interface FlowData {
  readonly provider: {
    /** The provider of OpenID Connect; absent: GitHub. */
    readonly providerKey?: string;
    /** PKCE verifier (RFC 7636): a stolen code is useless without it. */
    readonly verifier: string;
    readonly accountType: 'personal' | 'organization';
    /** The session to whose user the account will be linked; null: a sign-in. */
    readonly connecting: string | null;
    /** That session is one of the account pages; absent: it is not. */
    readonly ofAccountPages?: true;
    /** The address at the end; null: the default page. */
    readonly redirect: string | null;
    readonly cli: CliRequest | null;
  };
  /** The user is identified and has not consented yet. Without a device the command line listens at `redirect`. */
  readonly cli: CliUser & { readonly redirect: string } & (
      (CliRequest & { readonly device?: undefined }) | { readonly device: WaitingDevice }
    );
  /** A provider's account that will be connected if the user of the session consents. */
  readonly connect: {
    readonly identity: Identity;
    readonly sessionId: string;
    readonly ofAccountPages?: true;
    readonly redirect: string;
  };
  readonly project: ProjectSignIn;
  /** The user is asked whether to end these sessions of the browser. */
  readonly logout: LogoutQuestion;
  /** The link of the page at the end of a logout. It is read from here and not from the address, by which any site could choose it. */
  readonly signedOut: WayBack;
}
