import { DoorwardError } from './errors.ts';
import { partsOf, type Call, type Permission } from './permissions.ts';
import { badAnswer, refusal } from './service.ts';

/** The answer of the service to a question. */
export interface Decision {
  readonly authorized: boolean;
  /** Why, such as `ALLOWED_BY_CONDITION` or `NO_PERMISSION`. */
  readonly reason: string;
}

/** What a condition may read: the thing that the question is about. */
export interface Context {
  readonly resource?: object | null;
}

/** Asks the service whether the user may do something. */
export type Ask = (permission: Permission, context?: Context) => Promise<Decision>;

interface Question {
  readonly item: object;
  readonly resolve: (decision: Decision) => void;
  readonly reject: (error: unknown) => void;
}

/** The most questions that the service accepts in one request. */
const BATCH = 100;

/** Questions of the same moment, as of the rows of a list, are sent together. */
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
      // One question with a bad context must not fail the others.
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
