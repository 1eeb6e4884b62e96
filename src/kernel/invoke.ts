import { fail, type DoorwardError } from '../errors.ts';
import type { Authentication, Call, Principal } from './context.ts';
import type { Relation } from './entity.ts';
import { chargeFor } from './charge.ts';
import type { Recording } from './event.ts';
import type { NamedOperation } from './operation.ts';
import { projector } from './project.ts';
import type { RelatedAccess, SelectedRelation } from './related.ts';
import { BareReply, Refusal } from './reply.ts';
import { canonicalTenant, type ResolvedScope, type ScopeInput } from './scope.ts';
import type { Executor } from './scoped-db.ts';
import { noNotes, type Found, type MutationNotes, type Recorded, type Stages } from './stages.ts';
import { parseInput } from './validate.ts';

/**
 * The one path of every call, whatever the transport (conventions §4). The first failing step answers:
 * authenticate → validate → limit → admit → scope → token kind → permission → session gates → target → condition →
 * transaction{ run → audit + events } → answer after commit.
 *
 * The steps themselves live in the layers above and come in through `Stages` (stages.ts).
 */
/** What a transport passes to a call beside its input, and reads beside its answer. */
export interface Seen {
  /** The scope that was resolved, and what the caller may be shown there: to load relations in. */
  scope?: ResolvedScope | undefined;
  related?: RelatedAccess;
  /** The transport reads of a query's answer only what the output schema names, so no copy is made. */
  readonly picks?: boolean;
  /** Relations that will be read of the answer: whoever may not see their rows is refused before anything is done. */
  readonly relations?: readonly SelectedRelation[];
  /** Whether the transport has counted the call in the class of its operation. */
  readonly charged?: boolean;
}

/** Returns, or throws, synchronously where nothing had to be waited for. */
export type Invoke = (op: NamedOperation, raw: unknown, call: Call, seen?: Seen) => unknown;

function bearer(reason: Exclude<Authentication, { ok: true }>['reason']): DoorwardError {
  const expired = reason === 'expired' ? ', error_description="expired"' : '';
  const challenge = reason === 'missing' ? 'Bearer' : `Bearer error="invalid_token"${expired}`;
  return fail('UNAUTHENTICATED', { headers: { 'WWW-Authenticate': challenge } });
}

export function createInvoke(stages: Stages): Invoke {
  return (op, raw, call, seen) => follow(steps(op, raw, call, seen));

  function* steps(op: NamedOperation, raw: unknown, call: Call, seen: Seen | undefined): Steps {
    const { minRevision } = raw as { minRevision?: unknown };
    const newer = op.takesRevision && typeof minRevision === 'string';
    const authentication = (
      newer ? yield stages.reach(minRevision, call) : call.authentication
    ) as Authentication;
    assertAuthenticated(op, authentication);
    let principal = authentication.ok ? authentication.principal : null;

    let input = parseInput(op.schema, raw) as Record<string, unknown> & { scope?: ScopeInput };
    const once = stages.once(op, call);
    const charge = seen?.charged ? null : chargeFor(op, input, call, principal, stages.services);
    if (charge) yield stages.limit(charge.cls, charge.key, call, charge.points);

    const asked = op.scoped && principal ? scopeOf(op, principal, input.scope) : undefined;
    if (asked && asked !== input.scope) input = { ...input, scope: asked };
    // A check that is answered from memory waits for nothing.
    const more = op.alsoNeeds?.(input);
    const known =
      asked && principal && op.rate === 'check' && more !== 'rows'
        ? stages.peek(principal, asked, more?.userId)
        : undefined;
    const waited = !known && ((yield stages.admit(op, input, call, principal)) as boolean);
    const mayChange = op.kind === 'mutation' && op.access !== 'public';
    let isDue = mayChange ? stages.guard.watch() : undefined;
    const authenticated = (again: Authentication): void => {
      assertAuthenticated(op, again);
      principal = again.ok ? again.principal : null;
    };
    // Whose session or key ended while they waited, or sent their body, is not let in.
    if (waited || mayChange) authenticated((yield call.authenticate()) as Authentication);

    const guarded = op.access.includes(':');
    const now: Asked = { found: null, settled: true };
    const related: RelatedAccess = {
      filterOf: (selected) => (now.found ? stages.guard.permitRelated(selected, now.found.rights) : null),
      budget: call.budget,
    };
    /** Whether the caller may: asked before a mutation, and again after it had to wait. */
    function* ask(): Generator<unknown, void> {
      if (asked && principal) {
        now.found = known ?? ((yield stages.resolve(principal, asked)) as Found | null);
        stages.guard.enter(op, principal, now.found);
        if (now.found && call.slot.taken) stages.belongs(principal, asked, now.found);
      }
      const { scope, rights } = now.found ?? {};
      if (seen) [seen.scope, seen.related] = [scope, related];
      if (principal && principal.type !== 'session' && (op.sessionOnly || op.access === 'session')) {
        throw fail('SESSION_REQUIRED');
      }
      const own = principal?.type === 'session' && op.self?.(input as never) === principal.userId;
      now.settled = guarded && rights && !own ? stages.guard.permit(op, rights) : true;
      for (const selected of relationsOf(op, input, seen)) related.filterOf(selected);
      if (principal) stages.guard.gates(op, principal, now.found);
    }
    yield* ask();
    const scope = now.found?.scope;

    const notes = noNotes();
    const bind = (tx: Executor) => scope && stages.scopedDb(tx, scope, op, notes, principal, related);
    const id = op.pathParameter && (input[op.pathParameter] as string);
    let target: Record<string, unknown> | undefined;
    const loadTarget = async (tx: Executor): Promise<void> => {
      if (op.target && id) target = await bind(tx)?.get(op.target, id);
    };
    const permitRow = (): void => {
      const { found, settled } = now;
      if (!settled && found) stages.guard.permitRow(op, found.rights, attributesOf(op, input, target));
    };

    // All in one literal without accessors: those would make a shape of its own for each call, and keep it for long.
    const context = (prepared: unknown, tx: Executor | undefined) =>
      ({
        input,
        call,
        principal,
        scope,
        db: tx && bind(tx),
        rights: now.found?.rights,
        target,
        prepared,
        services: stages.services,
        tx,
        read: <T>(work: (tx: Executor) => Promise<T>) => stages.read(scope, work),
        record: (recording: Recording) => void notes.recordings.push(recording),
        unchanged: () => void (notes.unchanged = true),
        touch: (...topics: string[]) => topics.forEach((topic) => notes.topics.add(topic)),
        afterCommit: (work: () => void | Promise<void>) => void notes.afterCommit.push(work),
      }) as never;

    if (op.fromMemory) {
      permitRow();
      return projected(op, yield op.run(context(undefined, undefined)), seen?.picks);
    }
    if (op.kind === 'query') {
      const answer = stages.read(scope, async (tx) => {
        await loadTarget(tx);
        permitRow();
        return op.run(context(undefined, tx));
      });
      return projected(op, yield answer, seen?.picks);
    }

    if (op.target && id) yield stages.read(scope, loadTarget);
    permitRow();
    // Without a transaction: work that takes long must hold no connection.
    const prepare = () => op.prepare?.(context(undefined, scope ? undefined : stages.pool));
    let consequences: readonly Recording[] = [];
    const change = async (tx: Executor, prepared: unknown): Promise<unknown> => {
      const gains = op.addsRights && scope ? await stages.watchGains(tx, scope) : undefined;
      const result = await stages.within(tx, scope, async () => op.run(context(prepared, tx)));
      consequences = (await gains?.((topic) => notes.topics.add(topic))) ?? [];
      return result instanceof Refusal ? result : projected(op, result);
    };
    if (op.dryRun && scope && input['dryRun'] === true) {
      const prepared = yield prepare();
      return stages.rehearse(op, { scope, targetId: id, notes }, (tx) => change(tx, prepared));
    }

    const askAgain = async (): Promise<void> => {
      isDue = stages.guard.watch(true);
      authenticated(await call.authenticate());
      await follow(ask());
      if (!now.settled && op.target && id) await stages.read(scope, loadTarget);
      permitRow();
    };
    const caller = mayChange
      ? { isDue: () => principal !== null && isDue?.(principal, scope) === true, askAgain }
      : undefined;
    const by: Recorded = { scope, principal, call, caller };
    const perform = async (transaction: Stages['transaction']): Promise<unknown> => {
      const prepared = await prepare();
      const answer = await stages.commit(transaction, op, by, notes, async (tx) => {
        const out = await change(tx, prepared);
        if (notes.recordings.length === 0 && !notes.unchanged && !(out instanceof Refusal)) {
          notes.recordings.push(derivedRecording(op, out as Record<string, unknown>, notes));
        }
        // After the recordings of the operation itself, because the first of all is the audit entry.
        notes.recordings.push(...consequences);
        return out;
      });
      // A refusal tells nothing more: whether it wrote something says whether an address or a key is known.
      if (answer instanceof Refusal) throw answer.error;
      if (notes.revision) call.effects.headers['X-Doorward-Revision'] = notes.revision;
      return answer;
    };
    return once ? once(input, by, perform) : perform(stages.transaction);
  }
}

type Steps = Generator<unknown, unknown, unknown>;

/** The rights of the caller. `settled`: no condition on a row can change the decision. */
interface Asked {
  found: Found | null;
  settled: boolean;
}

/** Goes from yield to yield; only what has to be waited for makes a promise of the rest. */
function follow(steps: Steps, step: IteratorResult<unknown, unknown> = steps.next()): unknown {
  while (!step.done) {
    const { value } = step;
    if (value instanceof Promise) {
      return value.then(
        (known: unknown) => follow(steps, steps.next(known)),
        (error: unknown) => follow(steps, steps.throw(error)),
      );
    }
    step = steps.next(value);
  }
  return step.value;
}

/** What is not public needs a valid token and, of who has one, the second factor; REST asks before it reads a body. */
export function assertAuthenticated(op: NamedOperation, authentication: Authentication): void {
  if (op.access === 'public') return;
  if (!authentication.ok) throw bearer(authentication.reason);
  if (authentication.principal.mfaPending && !op.beforeMfa) throw fail('MFA_REQUIRED');
}

/** The scope asked for; a pinned token may leave it out where the operation says so. */
function scopeOf(op: NamedOperation, principal: Principal, scope: ScopeInput | undefined): ScopeInput {
  const asked = scope ?? (op.scopeOptional ? principal.pinned : null);
  if (!asked) {
    const inQuery = op.method === 'GET' || op.method === 'DELETE';
    const { scope: header } = op.headers ?? {};
    if (header !== undefined) {
      const fix = `Send ${header}: <tenant>:<id>, or ?scope=<tenant>:<id>.`;
      throw fail('SCOPE_REQUIRED', { params: { place: header }, fix });
    }
    const [place, fix] = inQuery
      ? ['scopeId and tenant in the query', 'Add ?tenant=<tenant>&scopeId=<id> to the address']
      : ['scope in the body', 'Add "scope": {"tenant": <tenant>, "id": <id>} to the body'];
    throw fail('SCOPE_REQUIRED', { params: { place }, fix: `${fix} (GraphQL: input.scope).` });
  }
  const tenant = canonicalTenant(asked.tenant);
  if (op.tenants && !op.tenants.includes(tenant)) {
    throw fail('TENANT_NOT_ALLOWED', { params: { tenant }, fix: `Use one of: ${op.tenants.join(', ')}.` });
  }
  return asked;
}

/** Those that the input names, and those that the transport will read. */
function relationsOf(
  { related }: NamedOperation,
  input: Readonly<Record<string, unknown>>,
  seen: Seen | undefined,
): readonly SelectedRelation[] {
  const named = ((related && input['relations']) ?? []) as readonly string[];
  const selected = seen?.relations ?? [];
  if (named.length === 0) return selected;
  return [...selected, ...named.map((name) => ({ name, relation: related?.relations[name] as Relation }))];
}

/** Conditions see the stored row, the validated new fields of a create, or nothing; never a caller's claims. */
function attributesOf(
  op: NamedOperation,
  input: Record<string, unknown>,
  target: Record<string, unknown> | undefined,
): Record<string, unknown> | null {
  if (target) return target;
  if (op.status !== 201) return null;
  const { scope: _, ...fields } = input;
  return fields;
}

const projected = (op: NamedOperation, value: unknown, picks = false): unknown =>
  picks || value instanceof BareReply ? value : projector(op.output)(value);

/** A mutation that said nothing of itself is a CRUD mutation: its answer is the target and the event's data. */
function derivedRecording(op: NamedOperation, out: Record<string, unknown>, notes: MutationNotes): Recording {
  const type = op.permissionNoun ?? null;
  const id = typeof out['id'] === 'string' ? out['id'] : null;
  const target = type && id ? { type, id } : null;
  return { event: op.emits, data: out, changes: notes.changes, target };
}
