export interface WatchOptions<T> {
  readonly read: () => Promise<T> | T;
  readonly apply: (value: T) => void;
  /** Adds a listener for changes of the value. Returns a function that removes the listener. */
  readonly onChange: (listener: () => void) => () => void;
  /** Called with the reason if the value cannot be read after a change. The previous value then remains in force. */
  readonly failed: (reason: string) => void;
}

const RETRY_MS = 1000;

/**
 * Reads and applies a value, now and after each change. Rejects if the first read fails. A later failed read is
 * retried after {@link RETRY_MS} or at the next change. Returns a function that ends the watch.
 */
export async function watchSource<T>({
  read,
  apply,
  onChange,
  failed,
}: WatchOptions<T>): Promise<() => void> {
  let wanted = 0;
  let retry: NodeJS.Timeout | undefined;
  const load = async (): Promise<void> => {
    const turn = ++wanted;
    const value = await read();
    // If several reads overlap, only the result of the read that started last is applied.
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
