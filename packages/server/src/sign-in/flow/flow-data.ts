import type { DetailCode } from '../../errors.ts';
import type { UserRow } from '../../schema/people/user.ts';
import type { LogoutQuestion, WayBack } from './logout-question.ts';
import type { AppRequest, CliRequest, WaitingDevice } from '../../apps/access/app-request.ts';
import type { Identity } from '../../providers/provider.ts';

/* Data that a sign-in keeps between its steps. It is stored sealed (`flow.ts`). */

/** The user who has signed in for a command line, and how. */
interface CliUser {
  readonly userId: string;
  readonly amr: readonly string[];
  readonly authenticatedAt: string;
}

/** The data that a new user entered before they proved their address. It is not used for an existing user. */
export interface NewUser {
  readonly name: string;
  /** Hash of their password; null if they sign in by mail. */
  readonly passwordHash: string | null;
  readonly locale: UserRow['locale'];
}

/**
 * How a person proved their identity: by a mailed code or link, their password, a passkey, a provider that vouches for
 * the address, or a former sign-in.
 */
export type Proof =
  | { readonly provider: 'email'; readonly address: string; readonly newUser?: NewUser }
  | { readonly provider: 'password'; readonly address: string; readonly userId: string }
  | { readonly provider: 'passkey'; readonly userId: string }
  | { readonly provider: 'github' | 'oidc'; readonly identity: Identity }
  /** `boundTo`: the organization whose provider vouched for them at that former sign-in. */
  | {
      readonly provider: 'sso';
      readonly userId: string;
      readonly sessionId: string;
      readonly boundTo?: string;
    };

/** A person who has proved their identity. Before they consent, no user, linked account or membership is created. */
export interface IdentifiedPerson {
  readonly proof: Proof;
  /** Null if no user exists yet; the app's sign-up will create one. */
  readonly userId: string | null;
  readonly authenticatedAt: string;
  readonly amr: readonly string[];
  /** When they gave their second factor; null if they have not. */
  readonly factorAt: string | null;
}

/** A message that a page of the sign-in shows. */
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

/** The purpose of a mailed code. A code for one purpose has no effect for another. */
export type CodePurpose =
  | { readonly name: 'signIn'; readonly newUser?: NewUser }
  /** Connects the account at a provider that named the address without vouching for it. */
  | { readonly name: 'connection'; readonly identity: Identity }
  /** Verifies the address of a user whose password or passkey was correct. */
  | {
      readonly name: 'verification';
      readonly userId: string;
      /** How the passkey authenticated them; absent if they gave their password. */
      readonly passkeyAmr?: readonly string[];
    }
  | { readonly name: 'reset' };

/** The newest mail that was requested, with a code and a link that prove the address. */
export interface MailedCode {
  readonly address: string;
  /** Null if nothing was mailed: no code matches then, so a code that was never mailed cannot be guessed. */
  readonly code: string | null;
  readonly purpose: CodePurpose;
  /** Hash of the token in the link; absent if nothing was mailed. */
  readonly tokenHash?: string;
  readonly wrongEntries: number;
  readonly expiresAt: string;
}

/** The forms of the first page, which shows one at a time. */
export type SignInForm = 'signIn' | 'signUp' | 'reset';

/** The first step: the person chooses how to prove their identity. */
export interface SignInStep {
  readonly name: 'signIn';
  /** The form that was sent last, if any. */
  readonly form?: SignInForm;
  /** The address that they sign in with; absent if the page still asks for it. */
  readonly address?: string;
  /** The values typed into the form, without passwords and codes. */
  readonly entered?: { readonly email?: string; readonly name?: string };
  /** The fields that were refused. */
  readonly problems?: readonly { readonly path: string; readonly code: DetailCode }[];
  readonly notice?: Notice;
  /**
   * The key of the provider, or the id of the connection, that the person went to last; absent for GitHub, or if they
   * went to none.
   */
  readonly providerKey?: string;
  /** The organization's connection for the domain of the address. */
  readonly connection?: { readonly id: string; readonly name: string; readonly enforced: boolean };
  /** The address as the page shows it, whether or not a mail was sent; absent if the page does not ask for a code. */
  readonly mailedTo?: string;
  readonly mail?: MailedCode;
}

/** The person adds an authenticator app: they enter its first code, then save the recovery codes. */
export interface EnrolmentStep {
  readonly name: 'enrolment';
  readonly user: IdentifiedPerson;
  /** Base64url; null once the app has been added. */
  readonly secret: string | null;
  /** Set once the app has been added. */
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
    /** The user chooses which organization to sign in for. */
    | { readonly name: 'organization'; readonly user: IdentifiedPerson }
    /**
     * `shown`: the scopes that the page lists; null if the app is not restricted. `later`: those of them that the user
     * does not hold yet.
     */
    | {
        readonly name: 'consent';
        readonly user: IdentifiedPerson;
        readonly shown: readonly string[] | null;
        readonly later?: readonly string[];
      }
    /** The sign-in is over, and a form posts the response to the app. */
    | { readonly name: 'respond'; readonly fields: Readonly<Record<string, string>> };
}

/** The data of each kind of flow. A state token of one kind cannot finish a flow of another. */
export interface FlowData {
  readonly provider: {
    /** The OpenID Connect provider; absent for GitHub. */
    readonly providerKey?: string;
    /** PKCE verifier (RFC 7636): a stolen code is useless without it. */
    readonly verifier: string;
    readonly accountType: 'personal' | 'organization';
    /** The session to whose user the account will be linked; null for a sign-in. */
    readonly connecting: string | null;
    /** Set if that session is one of the account pages. */
    readonly ofAccountPages?: true;
    /** The address that the browser returns to at the end; null for the default page. */
    readonly redirect: string | null;
    readonly cli: CliRequest | null;
  };
  /** The user is identified and has not consented yet. Without a device, the command line listens at `redirect`. */
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
  /** A logout that the user has not confirmed yet. */
  readonly logout: LogoutQuestion;
  /**
   * The link on the page at the end of a logout. It is stored here rather than in the page's URL, where any site could
   * choose it.
   */
  readonly signedOut: WayBack;
}
