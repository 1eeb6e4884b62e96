import { DoorwardError } from './errors.ts';
import { partsOf, type Call, type Permission } from './permissions.ts';
import { badAnswer, refusal } from './service.ts';

/** The service's decision about a question. */
export interface Decision {
  readonly authorized: boolean;
  /** The reason for the decision, such as `ALLOWED_BY_CONDITION` or `NO_PERMISSION`. */
  readonly reason: string;
}

/** The resource that a question is about; conditions read its attributes. */
export interface Context {
  readonly resource?: object | null;
}

/** Asks the service whether the user has a permission. */
export type Ask = (permission: Permission, context?: Context) => Promise<Decision>;

interface Question {
  readonly item: object;
  readonly resolve: (decision: Decision) => void;
  readonly reject: (error: unknown) => void;
}

/** The maximum number of questions per request. */
const BATCH = 100;

/**
 * Creates the function `ask`. Questions asked in the same tick, for example by the rows of a list, are sent together.
 */
export function createAsk(call: Call): Ask {
  let waiting: Question[] = [];

  function flush(): void {
    const questions = waiting;
    waiting = [];
    for (let start = 0; start < questions.length; start += BATCH)
      void send(questions.slice(start, start + BATCH));
  }

  async function send(questions: readonly Question[]): Promise<void> {
    try {
      const answer = await call('/auth/is-authorized/batch', {
        body: { items: questions.map(({ item }) => item) },
      });
      if (answer === null) throw new DoorwardError('SIGNED_OUT', 'Sign in first.');
      // One question with an invalid context must not fail the others, so each is sent alone.
      if (answer.status === 400 && questions.length > 1)
        return questions.forEach((question) => void send([question]));
      if (answer.status !== 200) throw refusal(answer);
      const { items } = (answer.body['data'] ?? {}) as { items?: readonly Decision[] };
      questions.forEach(({ resolve, reject }, index) => {
        const decision = items?.[index];
        if (typeof decision?.authorized === 'boolean') resolve(decision);
        else reject(badAnswer('The answer has no decision.'));
      });
    } catch (error) {
      for (const { reject } of questions) reject(error);
    }
  }

  return async (permission, context) => {
    const item = { permission: partsOf(permission), ...(context === undefined ? {} : { context }) };
    return new Promise((resolve, reject) => {
      if (waiting.push({ item, resolve, reject }) === 1) queueMicrotask(flush);
    });
  };
}
