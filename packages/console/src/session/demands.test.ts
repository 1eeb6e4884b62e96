import { DoorwardError } from '@doorward/node/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { askFor, isDemand, onDemandChange, openDemand, withDemands, type Demand } from './demands.ts';

const demand = (code: Demand): DoorwardError => new DoorwardError(code, code, { status: 403 });
const settle = (isSatisfied: boolean): void => openDemand()?.settle(isSatisfied);

// The open demand is module state, so it must not leak into the next test.
afterEach(() => settle(false));

describe('isDemand', () => {
  it.each<[unknown, boolean]>([
    [demand('STEP_UP_REQUIRED'), true],
    [demand('MFA_REQUIRED'), true],
    [demand('EMAIL_VERIFICATION_REQUIRED'), true],
    [new DoorwardError('FORBIDDEN', 'STEP_UP_REQUIRED', { status: 403 }), false],
    [new DoorwardError('constructor', ''), false],
    [Object.assign(new Error('MFA_REQUIRED'), { code: 'MFA_REQUIRED' }), false],
    [{ code: 'MFA_REQUIRED' }, false],
    [undefined, false],
  ])('%s: %s', (error, expected) => {
    expect(isDemand(error)).toBe(expected);
  });
});

describe('satisfied', () => {
  it('opens nothing for a call that succeeds', async () => {
    const listener = vi.fn();
    const stop = onDemandChange(listener);
    expect(await withDemands(async () => 'done')).toBe('done');
    expect(listener).not.toHaveBeenCalled();
    stop();
  });

  it('rejects with another refusal, without a dialog', async () => {
    const error = new DoorwardError('FORBIDDEN', 'no', { status: 403 });
    await expect(withDemands(() => Promise.reject(error))).rejects.toBe(error);
    expect(openDemand()).toBeNull();
  });

  it('calls once more after the demand, and closes the dialog', async () => {
    const call = vi.fn<() => Promise<string>>().mockRejectedValueOnce(demand('MFA_REQUIRED'));
    call.mockResolvedValueOnce('done');
    const result = withDemands(call);
    await vi.waitFor(() => expect(openDemand()?.code).toBe('MFA_REQUIRED'));
    settle(true);
    expect(await result).toBe('done');
    expect(call).toHaveBeenCalledTimes(2);
    expect(openDemand()).toBeNull();
  });

  it('rejects with the demand that the user declined, and does not call again', async () => {
    const error = demand('STEP_UP_REQUIRED');
    const call = vi.fn(() => Promise.reject(error));
    const result = withDemands(call);
    await vi.waitFor(() => expect(openDemand()).not.toBeNull());
    settle(false);
    await expect(result).rejects.toBe(error);
    expect(call).toHaveBeenCalledTimes(1);
  });

  it('rejects with a second demand, because a dialog after each answer might never end', async () => {
    const second = demand('MFA_REQUIRED');
    const call = vi.fn<() => Promise<never>>().mockRejectedValueOnce(demand('STEP_UP_REQUIRED'));
    call.mockRejectedValueOnce(second);
    const result = withDemands(call);
    await vi.waitFor(() => expect(openDemand()).not.toBeNull());
    settle(true);
    await expect(result).rejects.toBe(second);
    expect(openDemand()).toBeNull();
  });
});

describe('askFor', () => {
  it('declines an earlier demand when a later one opens', async () => {
    const earlier = askFor('STEP_UP_REQUIRED');
    const later = askFor('MFA_REQUIRED');
    expect(await earlier).toBe(false);
    settle(true);
    expect(await later).toBe(true);
  });

  it('keeps the dialog of a later demand open when an earlier one is answered', () => {
    void askFor('STEP_UP_REQUIRED');
    const earlier = openDemand();
    void askFor('MFA_REQUIRED');
    earlier?.settle(true);
    expect(openDemand()?.code).toBe('MFA_REQUIRED');
  });

  it('tells each listener of the opening and the closing, until it stops', () => {
    const seen: (string | undefined)[] = [];
    const stop = onDemandChange(() => seen.push(openDemand()?.code));
    void askFor('MFA_REQUIRED');
    settle(true);
    stop();
    void askFor('STEP_UP_REQUIRED');
    expect(seen).toEqual(['MFA_REQUIRED', undefined]);
  });
});
