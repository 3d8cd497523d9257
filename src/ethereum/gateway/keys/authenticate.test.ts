import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Authenticator } from './authenticate.ts';
import { type KeyStore, KeysUnavailableError } from './keyStore.ts';

describe('a gateway', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  let isEmpty = true;
  let reads = 0;
  const store = {
    isEmpty() {
      reads++;
      return isEmpty;
    },
    find: () => undefined,
  } as unknown as KeyStore;

  it('is open until the first key exists, and then never again', () => {
    const authenticator = new Authenticator(store);
    const isOpenAfter = (ms: number) => {
      vi.advanceTimersByTime(ms);
      return authenticator.isOpen();
    };
    expect([isOpenAfter(0), isOpenAfter(500), reads]).toEqual([true, true, 1]);
    isEmpty = false;
    expect([isOpenAfter(0), isOpenAfter(1), reads]).toEqual([true, false, 2]);
    isEmpty = true;
    expect([isOpenAfter(501), reads]).toEqual([false, 2]);
    expect(authenticator.accessBy('key')).toMatchObject({ isGranted: false });
    expect(authenticator.accessBy(undefined)).toMatchObject({ isGranted: false });
  });

  it('rejects a key if the keys cannot be read, and says so', () => {
    const find = () => {
      throw new KeysUnavailableError();
    };
    const authenticator = new Authenticator({ ...store, isEmpty: () => false, find } as KeyStore);
    expect(authenticator.accessBy('key')).toMatchObject({ isGranted: false, isUnknown: true });
  });
});
