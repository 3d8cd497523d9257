export interface FollowOptions<T> {
  readonly read: () => Promise<T> | T;
  /** Puts what was read in force. */
  readonly apply: (value: T) => void;
  /** Calls back after each change and returns how to end that. */
  readonly onChange: (listener: () => void) => () => void;
  /** Hears why it cannot be read; the last that was read stays in force. */
  readonly failed: (reason: string) => void;
}

const RETRY_MS = 1000;

/**
 * Keeps in force what a source has, now and after each change. Rejects when it cannot be read the first time; later the next
 * change, or a retry, brings the new one. Returns how to end it.
 */
export async function followNewest<T>({
  read,
  apply,
  onChange,
  failed,
}: FollowOptions<T>): Promise<() => void> {
  let wanted = 0;
  let retry: NodeJS.Timeout | undefined;
  const load = async (): Promise<void> => {
    const turn = ++wanted;
    const value = await read();
    // What was asked for earlier may come later: the last asked for is the newest.
    if (turn === wanted) apply(value);
  };
  const reload = (): void => {
    clearTimeout(retry);
    load().catch((error: unknown) => {
      failed(String(error));
      retry = setTimeout(reload, RETRY_MS);
      retry.unref();
    });
  };
  const stop = onChange(reload);
  try {
    await load();
  } catch (error) {
    stop();
    throw error;
  }
  return () => {
    clearTimeout(retry);
    stop();
  };
}
