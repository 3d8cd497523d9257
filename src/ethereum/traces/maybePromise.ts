/** Result of a read: a value if the engine is embedded, a promise if it is accessed over a network. */
export type MaybePromise<T> = T | Promise<T>;

/** Applies `next` to a read's result, synchronously if possible, so that an embedded engine creates no promise. */
export const mapMaybe = <T, R>(
  read: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> => (read instanceof Promise ? read.then(next) : next(read));
