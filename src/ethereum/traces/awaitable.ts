/** What a read gives: at once where the engine is embedded, later where it is asked over a network. */
export type Awaitable<T> = T | Promise<T>;

/** Goes on with what was read; in the same turn where it is there, so that an embedded engine costs no promise. */
export const andThen = <T, R>(read: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> =>
  read instanceof Promise ? read.then(next) : next(read);
