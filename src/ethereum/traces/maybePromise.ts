/** Result of a read: a value if the storage engine is embedded, a promise if it is accessed over a network. */
export type MaybePromise<T> = T | Promise<T>;

/** Applies `next` to the result of a read. Creates no promise if the result is a value. */
export const mapMaybe = <T, R>(
  read: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> => (read instanceof Promise ? read.then(next) : next(read));

/** Returns the result of a read of an embedded index, which is not a promise. */
export function immediate<T>(result: MaybePromise<T>): T {
  if (result instanceof Promise) throw new TypeError('the index must be an embedded one');
  return result;
}
